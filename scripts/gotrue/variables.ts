/** The variables that GoTrue reads: the fields of its configuration structs, by the rules of envconfig. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Field {
  name: string
  /** As in Go, without pointers; '' for an embedded struct. */
  type: string
  tag: string
  isEmbedded: boolean
}

type Structs = ReadonlyMap<string, readonly Field[]>

/** `folder`: a checked-out GoTrue. Names with its prefix, and those that it reads without one. */
export function listGotrueVariables(folder: string): string[] {
  const files = globSync('internal/conf/*.go', { cwd: folder }).filter(
    (file) => !file.endsWith('_test.go'),
  )
  const source = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
  const structs = readStructs(source)
  // A struct that parses its own text is one variable.
  const decoders = new Set(
    [...source.matchAll(/^func \(\w+ \*?(\w+)\) (?:Decode|UnmarshalText)\(/gm)].map(
      ([, name = '']) => name,
    ),
  )
  const nested = new Map([...structs].filter(([name]) => !decoders.has(name)))
  const named = listNames(nested, 'GlobalConfiguration', 'GOTRUE')
  const code = globSync('internal/**/*.go', { cwd: folder }).filter(
    (file) => !file.endsWith('_test.go') && !file.includes('/forks/'),
  )
  const direct = code.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/os\.Getenv\("([A-Z_]+)"\)/g)].map(
      ([, name = '']) => name,
    ),
  )
  return [...new Set([...named, ...direct])].toSorted()
}

function readStructs(source: string): Structs {
  const found = source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)
  return new Map([...found].map(([, name = '', body = '']) => [name, readFields(body)]))
}

function readFields(body: string): Field[] {
  return body.split('\n').flatMap((line) => {
    const [code = '', tag = ''] = line.trim().split('`')
    const [name = '', type = ''] = code
      .replace(/\/\/.*$/, '')
      .trim()
      .split(/\s+/)
    if (!/^[A-Z]\w*$/.test(name)) return []
    return [{ name, type: (type || name).replace(/^\*/, ''), tag, isEmbedded: type === '' }]
  })
}

function listNames(structs: Structs, struct: string, prefix: string): string[] {
  return (structs.get(struct) ?? []).flatMap((field) => {
    const { type, tag, isEmbedded } = field
    if (/\bignored:"true"/.test(tag)) return []
    const key = isEmbedded ? prefix : `${prefix}_${fieldKey(field)}`
    if (structs.has(type)) return listNames(structs, type, key)
    return isSettable(type) ? [key, ...unprefixed(tag)] : []
  })
}

/** Derived values, which envconfig cannot parse. */
function isSettable(type: string): boolean {
  return !/^(func|rsa\.|x509\.|template\.|cachedValue|map\[string\](glob|interface))/.test(type)
}

/** With an explicit name, envconfig reads the variable without any prefix as well. */
function unprefixed(tag: string): string[] {
  const name = explicitName(tag)
  return name ? [name] : []
}

function explicitName(tag: string): string | undefined {
  return /\benvconfig:"(\w+)"/.exec(tag)?.[1]?.toUpperCase()
}

function fieldKey({ name, tag }: Field): string {
  const explicit = explicitName(tag)
  if (explicit) return explicit
  return (/\bsplit_words:"true"/.test(tag) ? splitWords(name) : name).toUpperCase()
}

/** As envconfig: `RPDisplayName` is RP_DISPLAY_NAME, `ClientID` is CLIENT_ID. */
function splitWords(name: string): string {
  const words = name.match(/[A-Z]+(?=[A-Z][^A-Z]|$)|[A-Z][^A-Z]*|[^A-Z]+/g) ?? [name]
  return words.join('_')
}
