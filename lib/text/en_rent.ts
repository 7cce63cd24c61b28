/** What `train`, `stop` and `sweep` say in English. */
export const enRent = {
  "rent.config.number": "A number from {min} to {max} is allowed",
  "rent.config.one_of": "One of {values} is allowed",
  "rent.config.pattern": "A regular expression with one group is needed, such as `Step (\\d+):`",
  "rent.config.line": "One line of text is needed",
  "rent.config.command": "A shell command is needed",
  "rent.config.pod_path": "An absolute path on the Pod is needed",
  "rent.config.local_path": "A path on this machine without double quotes is needed",
  "rent.config.member": "The name of a file or folder without `/` and blanks is needed",
  "rent.config.url": "An address such as `https://api.runpod.io/v2` without a slash at its end is needed",
  "rent.config.name_prefix":
    "Small letters, digits and `-` are allowed (at most 32); not `p2m`, which belongs to the older scripts",
  "rent.config.repository": "A repository such as `name/model` is needed",
  "rent.config.start": "At least one word is needed: the image's own start script",
  "rent.config.public_key": "The line of a public ssh key is needed, such as `ssh-ed25519 AAAA…`",
  "rent.config.gpus": "At least one GPU is needed",
  "rent.ledger.broken": "The record {file} makes no sense, and it may be the only trace of a Pod",
  "rent.ledger.broken.hint":
    "Look at the Pods of your account (`tias-remote sweep` lists ours), then put the file aside",
  "rent.send.unreadable": "Cannot send {path}: {problem}",
  "rent.send.unreadable.hint": "Correct `send:` in configs/train.yaml",
  "rent.outside.hint":
    'It lies outside the project: add "{folder}" to `read` and `write` of the permission set `train` in deno.json, in that one place',
  "rent.no_list": "The checkpoint's list from the Pod is missing",
  "rent.hub.public.hint": "Make the repository private on the Hub, or name another one in `hub.repository`",
} as const;
