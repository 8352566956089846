import { open, readFile, rename, rm, stat } from 'node:fs/promises'

/** Sets variables in an .env file and removes those without a value; other lines stay unchanged. */
export async function writeVariables(
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const kept = lines.filter((line) => !(nameIn(line) in variables))
  if (kept.at(-1) === '') kept.pop()
  const set = Object.entries(variables).filter(([, value]) => value !== '')
  const text = [...kept, ...set.map(([name, value]) => `${name}=${value}`), ''].join('\n')
  await replace(file, text)
}

/** Replaced atomically, with the same owner, group and mode. */
async function replace(file: string, text: string): Promise<void> {
  const draft = `${file}.new`
  await rm(draft, { force: true })
  const handle = await open(draft, 'wx', 0o600)
  try {
    const [old, made] = [await stat(file), await handle.stat()]
    if (old.uid !== made.uid || old.gid !== made.gid) await handle.chown(old.uid, old.gid)
    await handle.chmod(old.mode & 0o660)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}

function nameIn(line: string): string {
  return /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? ''
}
