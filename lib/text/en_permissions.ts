/** The English sentences of `permissions`. */
export const enPermissions = {
  "permissions.brief": "Show what each command can touch on this machine",
  "permissions.argument": "Only this command",
  "permissions.unknown_verb": "There is no command `{verb}`; there are: {verbs}",
  "permissions.unknown_verb.hint": "`tias-remote permissions` shows all of them",
  "permissions.read": "reads",
  "permissions.write": "writes",
  "permissions.net": "connects to",
  "permissions.run": "starts",
  "permissions.env": "reads variables",
  "permissions.sys": "learns",
  "permissions.whole_project": "the project",
  "permissions.project_folder": "{path} of the project",
  "permissions.hostname": "this machine's name",
  "permissions.nothing": "nothing",
  "permissions.only_ssh": "nothing; only ssh does",
  "permissions.project":
    "The project of a script is the one that it lies in; that of the executable is the current folder's, with `configs` there or in up to {levels} folders above",
  "permissions.sandbox":
    "Deno's sandbox denies everything else. What is started is outside the sandbox and may do what you may",
} as const;
