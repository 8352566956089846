/** .env.example */
import type { Row } from './row.ts'
import type { Section } from './sections.ts'

const introduction = `# Configuration of the server. What has no # in front is required.
# Begin with \`npm run secrets\`: it makes .env and the secrets in it. Then add to .env what you need from here.
# Do not copy this file over a .env that is there: its secrets would be lost, and with them every session and key.
# docs/configuration.md explains every variable and how values are written.
# Written by \`npm run config:docs\` from plugins/config. Change it there.
`

export function example(all: readonly Section[]): string {
  const works = all
    .filter(({ planned }) => !planned)
    .map((section) => ({ ...section, rows: section.rows.filter(({ ignored }) => !ignored) }))
    .filter(({ rows }) => rows.length > 0)
  return [introduction, ...works.map(sectionText)].join('\n')
}

function sectionText({ title, note, rows }: Section): string {
  const notes = note === '' ? [] : [comment(plain(note))]
  return [`### ${title}`, ...notes, '', ...rows.map(entry)].join('\n')
}

/** What must be set stands ready to be filled in; the rest stands behind a #, with its default. */
function entry(row: Row): string {
  const sign = row.required && !row.name.includes('<') ? '' : '# '
  const value = row.example || (row.presetIsValue ? row.preset : '')
  const meaning = `${sign === '' ? 'Required. ' : ''}${plain(row.meaning)}`
  const lines = [comment(meaning), `${sign}${row.name}=${quoted(value)}`]
  return `${lines.join('\n')}\n`
}

function plain(text: string): string {
  return text.replaceAll('`', '')
}

function quoted(value: string): string {
  return /[\s#'"{}$*]/.test(value) ? `"${value}"` : value
}

/** Lines of at most 100 characters behind a #. */
function comment(text: string): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < 97) lines[lines.length - 1] += ` ${word}`
    else lines.push(word)
  }
  return lines.map((line) => `# ${line}`).join('\n')
}
