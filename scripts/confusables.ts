/**
 * `node scripts/confusables.ts TABLES`: writes modules/usernames/confusables.json from src/tables.rs of the Rust crate
 * unicode-security, which holds confusables.txt of Unicode Technical Standard #39. Kept are the characters that a
 * username may contain.
 */
import { readFileSync, writeFileSync } from 'node:fs'

import { enforceUsername } from '../modules/usernames/precis.ts'

const [source] = process.argv.slice(2)
if (!source) throw new Error('The path of src/tables.rs of the crate unicode-security is missing.')

const tables = readFileSync(source, 'utf8')
const [, major = ''] = /UNICODE_VERSION: \(u64, u64, u64\) = \((\d+),/.exec(tables) ?? []
const [, table = ''] =
  /CONFUSABLES: &'static \[\(char, [^=]+= &\[([\s\S]*?)\n {4}\];/.exec(tables) ?? []
const entries = table.matchAll(/\('([^']+)',\s*&\[([^\]]*)\]\)/g).map(([, from = '', to = '']) => {
  const target = to.matchAll(/'([^']+)'/g).map(([, char = '']) => read(char))
  return [read(from), [...target].join('')] as const
})
// A character that is never at the start of a name may still be inside of one.
const used = [...entries].filter(([from]) => [from, `l${from}l`].some(isEnforced))
if (used.length === 0) throw new Error(`${source} has no table of confusables.`)
const lines = used.map(([from, to]) => `    ${JSON.stringify(from)}: ${JSON.stringify(to)}`)
const json = `{\n  "unicode": ${major},\n  "prototypes": {\n${lines.join(',\n')}\n  }\n}\n`
writeFileSync('modules/usernames/confusables.json', json)
console.log(`modules/usernames/confusables.json has ${used.length} characters`)

function read(escaped: string): string {
  const [, code] = /^\\u\{([0-9a-f]+)\}$/.exec(escaped) ?? []
  return code === undefined ? escaped : String.fromCodePoint(Number.parseInt(code, 16))
}

function isEnforced(name: string): boolean {
  return enforceUsername(name) === name
}
