import { readFile, rename, writeFile } from 'node:fs/promises'

/** Sets variables in an .env file and takes out those without a value; every other line stays as it is. */
export async function writeVariables(
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const kept = lines.filter((line) => !(nameIn(line) in variables))
  if (kept.at(-1) === '') kept.pop()
  const set = Object.entries(variables).filter(([, value]) => value !== '')
  const text = [...kept, ...set.map(([name, value]) => `${name}=${value}`), ''].join('\n')
  // Whoever reads it meanwhile finds the old file or the new one, and nobody else may read either.
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

function nameIn(line: string): string {
  return /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? ''
}
