/** The user's own configuration, letter by letter as the specification has it. */
export const specification = `jump_host: labpc              # bastion; null = connect directly
connect_timeout_sec: 15
gpu_free:
  max_memory_used_mib: 1024   # "free" needs memory used below this
  max_utilization_percent: 10 # and utilisation below this
  observe_sec: 10             # observe this long before judging (0 = one instant reading)
  sample_interval_ms: 500
servers:
  - name: Newton
    address: 192.168.23.14
    user: hasegawa
    priority: 1               # smaller is preferred
    remote_dir: ~/work/TIASJudgeModel
    data_dir: ~/data/TIASJudgeModel
    uv: ~/.local/bin/uv
    data_ready: true          # is the clinical data in place there?
  - name: Archimedes
    address: 192.168.23.15
    user: hasegawa
    priority: 2
    remote_dir: ~/work/TIASJudgeModel
    data_dir: ~/data/TIASJudgeModel
    uv: ~/.local/bin/uv
    data_ready: false
`;

/** The specification's file with the first occurrence of `from` replaced. */
export function edited(from: string, to: string): string {
  if (!specification.includes(from)) throw new Error(`There is no ${from} to replace`);
  return specification.replace(from, () => to);
}
