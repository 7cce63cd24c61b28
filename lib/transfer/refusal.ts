/** Why a pulled archive is refused. Each rule has its sentence in both languages; no sentence names a member. */
export const refusalRules = [
  // What the member is called.
  "not_whitelisted",
  "empty_name",
  "dot_segment",
  "parent_segment",
  "absolute",
  "drive_letter",
  "backslash",
  "empty_segment",
  "nul_in_name",
  "control_character",
  "invisible_character",
  "not_utf8",
  "reserved_name",
  "trailing_dot_or_space",
  "colon",
  "forbidden_character",
  "name_too_long",
  // What the members are called together.
  "duplicate",
  "collision",
  "file_as_directory",
  // What the member is.
  "symbolic_link",
  "hard_link",
  "device",
  "fifo",
  "sparse",
  "unknown_type",
  "directory",
  "size_without_body",
  // How its header is written.
  "checksum",
  "magic",
  "number",
  "format_mixture",
  "ambiguous_size",
  "extension_malformed",
  "extension_repeated",
  "extension_order",
  "extension_too_large",
  "extension_without_member",
  "extension_keyword",
  "global_header",
  "padding",
  // The archive as a whole.
  "empty",
  "truncated",
  "end_missing",
  "trailing_data",
  "too_many_members",
  "too_large",
  "count_differs",
  "length_differs",
  "hash_differs",
] as const;

export type RefusalRule = (typeof refusalRules)[number];

/** An archive broke a rule: nothing of it may be placed. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly rule: RefusalRule;
  /** The member's name with all but its extension masked, where one is known. Shown with `--verbose` only. */
  readonly maskedName: string | undefined;

  constructor(rule: RefusalRule, maskedName?: string) {
    super(`Cannot accept the archive: rule ${rule}`);
    this.rule = rule;
    this.maskedName = maskedName;
  }
}
