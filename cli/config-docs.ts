/** `npm run config:docs`: writes docs/configuration.md and .env.example; `--check` compares instead. */
import { readFileSync, writeFileSync } from 'node:fs'

import { example } from './config-docs/example.ts'
import { reference } from './config-docs/reference.ts'
import { sections } from './config-docs/sections.ts'

const markdownFile = new URL('../docs/configuration.md', import.meta.url)
const exampleFile = new URL('../.env.example', import.meta.url)

export const usage = 'npm run config:docs -- [--check]'

/** Both files as the schema has them now. */
export function configDocs(): { markdown: string; envExample: string } {
  const all = sections()
  return { markdown: reference(all), envExample: example(all) }
}

/** The command; with `--check` it writes nothing and sets exit code 1 when a file is stale. */
export async function run(args: readonly string[]): Promise<void> {
  const { markdown, envExample } = configDocs()
  const files = [
    { file: markdownFile, name: 'docs/configuration.md', text: markdown },
    { file: exampleFile, name: '.env.example', text: envExample },
  ]
  if (!args.includes('--check')) {
    for (const { file, text } of files) writeFileSync(file, text)
    return
  }
  for (const { name } of files.filter(({ file, text }) => current(file) !== text)) {
    console.error(`${name} is not what the schema says: run npm run config:docs`)
    process.exitCode = 1
  }
}

function current(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
