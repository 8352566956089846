/** docs/configuration.md */
import type { Row } from './row.ts'
import type { Section } from './sections.ts'

const introduction = `# Configuration

<!-- Written by \`npm run config:docs\` from plugins/config. Change it there. -->

The server is configured by environment variables and by a file named \`.env\` in the folder it is
started from. A variable set in the environment wins over the file, and an empty one counts as not
set. \`.env.example\` holds all of them, ready to copy.

Everything is read and checked once, before anything is opened. When something is wrong, the server
prints every mistake with the variable's name and what would be right, and stops with exit code 1.
A variable with the prefix \`AUTH_\` that nobody knows is named in a warning, with the nearest known
name.

How values are written:

- **true, false**: also \`1\`, \`0\`, \`yes\`, \`no\`, \`on\`, \`off\`, in any case.
- **duration**: Go style, as in \`90s\`, \`15m\`, \`1h30m\` (units \`ns\` to \`h\`, and \`d\`, \`w\`, \`y\`),
  or a bare number of seconds.
- **list**: values separated by commas.
- **map**: \`name:value\` pairs separated by commas.
- **rate**: a number an hour, as in \`30\`, or a number in a time, as in \`5/10m\`.
- **key**: 32 bytes as base64url, which are 43 characters:
  \`openssl rand -base64 32 | tr '+/' '-_' | tr -d '='\`.

Coming from a GoTrue server, its names work as well: \`GOTRUE_X\` is read where \`AUTH_X\` is not set,
and so are its names without a prefix (\`API_EXTERNAL_URL\`, \`DB_NAMESPACE\`, \`REQUEST_ID_HEADER\`).
One notice at start lists the names that were read this way.
`

const planned = 'Reserved: these are read and checked already and have no effect yet.'

export function reference(all: readonly Section[]): string {
  return [introduction, ...all.map(sectionText)].join('\n')
}

function sectionText({ title, planned: isPlanned, note, rows }: Section): string {
  const notes = [isPlanned ? planned : '', note].filter(Boolean).map((text) => `${text}\n`)
  const head = '| Variable | Type | Default | Meaning |\n|---|---|---|---|'
  return [`## ${title}\n`, ...notes, head, ...rows.map(line), ''].join('\n')
}

function line(row: Row): string {
  const names = [row.name, ...row.aliases].map((name) => `\`${name}\``).join(' or ')
  return `| ${names} | ${cell(row.type)} | ${cell(presetText(row))} | ${cell(row.meaning)} |`
}

function presetText({ required, preset, presetIsValue }: Row): string {
  if (required) return '**required**'
  if (preset === '') return 'none'
  return presetIsValue ? `\`${preset}\`` : preset
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
