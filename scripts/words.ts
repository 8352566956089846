/**
 * `node scripts/words.ts [--check]`: counts replaced words over code, documents and tests, identifiers included, and
 * prints the counts. With --check it fails on the words that must not come back (docs/architecture.md, "Words").
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

interface Word {
  forms: readonly string[]
  /** The term to use instead. */
  instead: string
  /** Occurrences that are left, without allowed ones. Lower it with every replacement, never raise it. */
  limit: number
}

const words: readonly Word[] = [
  { forms: ['house'], instead: 'deps, dependencies', limit: 0 },
  { forms: ['person', 'persons', 'people'], instead: 'user', limit: 0 },
  {
    forms: ['somebody', 'whoever', 'nobody', 'everybody', 'anybody'],
    instead: 'user, no user',
    limit: 0,
  },
  { forms: ['stranger', 'strangers'], instead: 'client, unknown user', limit: 2 },
  { forms: ['refuse', 'refuses', 'refusing'], instead: 'reject', limit: 0 },
  { forms: ['refusal', 'refusals'], instead: 'rejection, error', limit: 0 },
  { forms: ['judgement', 'judgements'], instead: 'result', limit: 0 },
  { forms: ['riddle', 'riddles'], instead: 'the standard term', limit: 0 },
  { forms: ['anew'], instead: 'again, new', limit: 0 },
  { forms: ['newcomer', 'newcomers'], instead: 'new user', limit: 0 },
  { forms: ['unproven'], instead: 'unverified', limit: 0 },
  { forms: ['decoy', 'decoys'], instead: 'dummy', limit: 0 },
  { forms: ['crowd', 'crowds'], instead: 'users', limit: 0 },
  { forms: ['asker', 'askers'], instead: 'requester', limit: 0 },
  { forms: ['owe', 'owes'], instead: 'require', limit: 0 },
  { forms: ['disguise', 'disguises'], instead: 'variant', limit: 0 },
  { forms: ['rehearse', 'rehearses', 'rehearsal'], instead: 'dry run', limit: 0 },
  { forms: ['chore', 'chores'], instead: 'task', limit: 0 },
  { forms: ['outlast', 'outlasts', 'hears'], instead: 'the action itself', limit: 0 },
  { forms: ['speech', 'wording'], instead: 'messages, texts', limit: 0 },
  { forms: ['remedy', 'remedies'], instead: 'hint', limit: 0 },
  { forms: ['fewest'], instead: 'min', limit: 0 },
  { forms: ['comer', 'comers'], instead: 'new user', limit: 0 },
  { forms: ['vouch', 'vouches'], instead: 'verify', limit: 0 },
  { forms: ['slip', 'slips'], instead: 'typo, skew', limit: 0 },
  { forms: ['stray'], instead: 'unlisted, unconfigured', limit: 0 },
  { forms: ['thief', 'thieves'], instead: 'attacker', limit: 0 },
  { forms: ['deed', 'deeds', 'siege', 'trick', 'tricks'], instead: 'the action itself', limit: 0 },
  { forms: ['imitation', 'imitations'], instead: 'variation', limit: 0 },
  { forms: ['surroundings'], instead: 'context, environment', limit: 0 },
  { forms: ['impatient', 'speaks'], instead: 'the setting or action itself', limit: 0 },
]

/** Files in which a word is allowed, each with its reason. A path matches as a whole or as a folder. */
const allowed: Readonly<Record<string, string>> = {
  LICENSE: 'the text of the MIT license',
  'CHANGELOG.md': 'quotes names that changed',
  'docs/decisions/': 'history',
  'docs/internals/decisions/': 'history',
  'mail/languages/': 'texts for end users',
  'ui/languages/': 'texts for end users',
  'ui/account/languages/': 'texts for end users',
  'test/db/fixtures/': 'the specification, and databases of earlier releases',
  'db/migrations/': 'names of tables that exist',
  'dev/postgres/account.ts': 'the system user nobody',
  'cli/openapi.ts': 'a login name that does not exist',
  'providers/vendors/notion.ts': "a field of Notion's API",
  'test/support/providers/documented/work.ts': "a field of Notion's API",
  'test/services/programs.ts': 'the system user nobody',
  'scripts/words.ts': 'the list itself',
  'test/architecture/words.test.ts': 'tests the list',
}

/** Names that a line may contain: stored or external. */
const allowedNames =
  /Nobody has verified its name|postern_decoy_tokens|nobody@|\/nobody\b|nobody\.example|user nobody/g

const patterns = [
  '*.{md,ts,yml,json,cjs}',
  '{bench,cli,config,console,db,deploy,dev,docs,examples,mail,modules,plugins,providers,routes,schemas,scripts,server,sms,test,ui}/**/*.{ts,tsx,js,cjs,mjs,md,json,yml,yaml,sql,html,css,sh}',
]
const generated = /node_modules\/|package-lock\.json$|docs\/openapi\.json$|\/dist\//

const listed = new Set(words.flatMap(({ forms }) => forms))
const anyForm = new RegExp([...listed].join('|'), 'i')

interface Occurrence {
  file: string
  line: number
  form: string
}

/** The words of a text, camelCase and snake_case identifiers split. */
export function wordsIn(text: string): string[] {
  const runs = text.match(/[A-Za-z]+/g) ?? []
  return runs
    .flatMap((run) => run.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/))
    .map((word) => word.toLowerCase())
}

/** Occurrences of listed words in one file. */
export function occurrencesIn(file: string, text: string): Occurrence[] {
  return text.split('\n').flatMap((line, index) => {
    // Few lines contain one, also as a part of another word.
    if (!anyForm.test(line)) return []
    return wordsIn(line.replace(allowedNames, ''))
      .filter((word) => listed.has(word))
      .map((form) => ({ file, line: index + 1, form }))
  })
}

/** Every occurrence in the repository, allowed files left out. */
export function findOccurrences(): Occurrence[] {
  const files = globSync(patterns, { cwd: root }).filter((file) => !generated.test(file))
  return files
    .filter((file) => !Object.keys(allowed).some((path) => file === path || file.startsWith(path)))
    .sort()
    .flatMap((file) => occurrencesIn(file, readFileSync(join(root, file), 'utf8')))
}

/** One row per word: its count and its limit. */
export function countWords(found: readonly Occurrence[]) {
  return words.map(({ forms, limit, instead }) => ({
    words: forms.join(', '),
    count: found.filter(({ form }) => forms.includes(form)).length,
    limit,
    instead,
  }))
}

function main(args: readonly string[]): number {
  const found = findOccurrences()
  const rows = countWords(found)
  console.table(rows)
  if (!args.includes('--check')) return 0
  const tooMany = new Set(rows.filter(({ count, limit }) => count > limit).flatMap(listForms))
  for (const { file, line, form } of found) {
    if (tooMany.has(form)) console.error(`${file}:${line}: "${form}"`)
  }
  return tooMany.size === 0 ? 0 : 1
}

const listForms = ({ words: forms }: { words: string }) => forms.split(', ')

if (import.meta.main) process.exitCode = main(process.argv.slice(2))
