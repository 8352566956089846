/** The settings in the specification’s tables, read from the copy in test/fixtures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One variable in the specification. */
interface SpecifiedVariable {
  name: string
  /** Other names of the variable. */
  aliases: readonly string[]
  /** Whether the column "Required" says yes: always, or when its feature is enabled. */
  required: boolean
  /** As written; undefined without a default. */
  default: string | undefined
}

/** The excerpt of the specification with its variables and limits. */
export const specificationFile = join(import.meta.dirname, '../test/db/fixtures/specification.md')

const text = readFileSync(specificationFile, 'utf8')

export const specifiedProviders: readonly string[] = listAfter('Supported provider names: ')

/** In upper case, as suffixes of variables. */
export const specifiedMailKinds: readonly string[] = listAfter('The kinds are ')

/** Each row of each variable table, with placeholders expanded. */
export const specifiedSettings: readonly SpecifiedVariable[] = [
  ...tables().flatMap(toSettings),
  ...templateSettings(),
  ...flagSettings(),
  ...inheritedSettings(),
]

/** The name of each variable, and each alias. */
export const specifiedVariables: readonly string[] = specifiedSettings.flatMap(
  ({ name, aliases }) => [name, ...aliases],
)

/** The names in a sentence that lists them: separated by commas, the last one by "and". */
function listAfter(words: string): string[] {
  const [, sentence = ''] = text.split(words)
  return [...(sentence.split('.')[0] ?? '').matchAll(/[A-Za-z_]+/g)]
    .map(([word]) => word)
    .filter((word) => !['and', 'the', 'notification', 'kinds'].includes(word))
}

type Cells = Record<string, string>

/** The rows of all tables, each cell by the heading of its column. */
function tables(): Cells[] {
  return text.split(/\n{2,}/).flatMap((block) => {
    if (!block.startsWith('| ')) return []
    const [head = [], , ...rows] = block.split('\n').map(splitCells)
    return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])))
  })
}

function splitCells(line: string): string[] {
  return line
    .replace(/^\| ?| ?\|$/g, '')
    .split(' | ')
    .map((cell) => cell.trim())
}

/** Names may be joined by "or", "also read as" (one setting) or commas (several). */
function toSettings({ Variable: names, Required, Default, Meaning = '' }: Cells) {
  if (names === undefined) return []
  const settings =
    names.includes(' or ') || names.includes('also read as') ? [names] : names.split(', ')
  return settings.flatMap((setting) => {
    const [name = '', ...aliases] = setting.match(/[A-Z][A-Z_]{3,}/g) ?? []
    return listNames(name, Meaning).map((each) => ({
      name: each,
      aliases,
      required: Required === 'yes',
      default: isStated(Default) ? Default : undefined,
    }))
  })
}

function isStated(preset: string | undefined): boolean {
  return preset !== undefined && !['none', 'not stated', ''].includes(preset)
}

/** X stands for each provider; a URL only for those named by the row. */
function listNames(name: string, meaning: string): string[] {
  if (!name.startsWith('AUTH_EXTERNAL_X_')) return [name]
  const isForSome = name.endsWith('_URL')
  const providers = specifiedProviders.filter(
    (provider) => !isForSome || meaning.includes(provider),
  )
  return providers.map((provider) => name.replace('_X_', `_${provider.toUpperCase()}_`))
}

function templateSettings(): SpecifiedVariable[] {
  return specifiedMailKinds.map((kind) => optional(`AUTH_MAILER_TEMPLATES_${kind}`))
}

function flagSettings(): SpecifiedVariable[] {
  const [, preset = ''] = /default (\w+) for all/.exec(text) ?? []
  const flags = tables().flatMap(({ Flag: name }) => (name === undefined ? [] : [name]))
  return flags.map((name) => ({ ...optional(name), default: preset }))
}

/** The variables of the first list, which has no table: in backticks and capitals. */
function inheritedSettings(): SpecifiedVariable[] {
  const [list = ''] = text.split('### Configuration')
  const names = [...list.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name = '']) => name)
  return names.filter((name) => !text.includes(`| ${name} |`)).map(optional)
}

function optional(name: string): SpecifiedVariable {
  return { name, aliases: [], required: false, default: undefined }
}
