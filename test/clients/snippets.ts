/** The examples in the published SDK's own documentation, as its declarations carry them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Snippet {
  /** As users call it: `auth.signUp`, `auth.admin.createUser`. */
  method: string
  title: string
  code: string
}

const sources = { GoTrueClient: 'auth', GoTrueAdminApi: 'auth.admin' }

/** A comment, and the name declared below it. */
const comment = /\/\*\*(?<text>[\s\S]*?)\*\/\s*(?<name>\w+)/g
const example = /@example (?<title>[^\n]*)\n(?<body>[\s\S]*?)(?=@example |@\w+ |$)/g

export function documentedSnippets(): Snippet[] {
  return Object.entries(sources).flatMap(([file, api]) =>
    [...readDeclarations(file).matchAll(comment)].flatMap(({ groups = {} }) =>
      extractSnippets(groups.text ?? '', `${api}.${groups.name}`),
    ),
  )
}

function extractSnippets(text: string, method: string): Snippet[] {
  const plain = text.replaceAll(/^\s*\* ?/gm, '')
  return [...plain.matchAll(example)].flatMap(({ groups = {} }) => {
    const code = /```\w*\n([\s\S]*?)```/.exec(groups.body ?? '')?.[1]
    return code === undefined ? [] : [{ method, title: (groups.title ?? '').trim(), code }]
  })
}

function readDeclarations(file: string): string {
  const entry = fileURLToPath(import.meta.resolve('@supabase/auth-js'))
  const folder = entry.slice(0, entry.lastIndexOf('/dist/'))
  return readFileSync(`${folder}/dist/module/${file}.d.ts`, 'utf8')
}
