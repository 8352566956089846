/** Arguments of the backup commands: a file and one switch. */
import { parseArgs } from 'node:util'

/** Throws an Error with the usage. */
export function readArguments(
  args: readonly string[],
  { option, usage }: { option: string; usage: string },
): { file: string; isSet: boolean } {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { [option]: { type: 'boolean' } },
    allowPositionals: true,
  })
  const [file, ...rest] = positionals
  if (!file || rest.length > 0) throw new Error(`Usage:\n${usage}`)
  return { file, isSet: values[option] === true }
}
