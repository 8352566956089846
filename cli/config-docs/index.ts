/** `npm run config:docs`: generates docs/configuration.md and .env.example; `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs'

import { example } from './example.ts'
import { configReference } from './reference.ts'
import { listReferenceSections } from './sections.ts'

const markdownFile = new URL('../../docs/configuration.md', import.meta.url)
const exampleFile = new URL('../../.env.example', import.meta.url)

export const usage = 'npm run config:docs -- [--check]'

/** Both files as generated from the schema. */
export function configDocs(): { markdown: string; envExample: string } {
  const all = listReferenceSections()
  return { markdown: configReference(all), envExample: example(all) }
}

/** Runs the command. With `--check` it writes nothing and sets exit code 1 when a file is outdated. */
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
    console.error(`${name} is outdated: run npm run config:docs`)
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
