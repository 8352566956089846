/** What a backup holds, read from the file alone. */
import { findProgram, readWithProgram } from './programs.ts'

export interface Dump {
  /** Major version of the server that it was made from. */
  major: number
  /** Roles that own something in it. */
  owners: string[]
  /** Those, and roles that something is granted to. */
  roles: string[]
  extensions: { name: string; schema: string }[]
  /** Those that it makes itself. */
  schemas: string[]
  /** The stored probe of the encryption key, and the row that it is bound to. */
  probe: { id: string; value: string } | undefined
  /** Of the key that what is stored was encrypted with. */
  keyId: string | undefined
}

/** Throws an Error, one sentence, for a file that is no backup of this server's tables. */
export async function readDump(file: string, schema: string): Promise<Dump> {
  const program = await findProgram('pg_restore', 15)
  const read = (...args: string[]) => readWithProgram(program, [...args, '--file=-', file])
  const [list, definitions, rows] = await Promise.all([
    readWithProgram(program, ['--list', file]),
    read('--schema-only'),
    read('--data-only', `--schema=${schema}`, '--table=postern_encryption_probe'),
  ])
  if (!list.includes(` TABLE DATA ${schema} users `)) {
    throw new Error(`${file} does not hold the table ${schema}.users.`)
  }
  const probe = probeIn(rows)
  const owners = matches(definitions, /^ALTER .* OWNER TO (.+);$/gm)
  const grantees = [
    ...matches(definitions, /^GRANT .* TO (.+?)(?: WITH GRANT OPTION)?;$/gm),
    ...matches(definitions, /^ALTER DEFAULT PRIVILEGES FOR ROLE (\S+)/gm),
    ...matches(definitions, /^ALTER DEFAULT PRIVILEGES .* TO (.+?)(?: WITH GRANT OPTION)?;$/gm),
    ...matches(definitions, policyRoles),
  ]
  return {
    major: Number(/Dumped from database version: (\d+)/.exec(list)?.[1] ?? 0),
    owners: unique(owners),
    roles: unique([...owners, ...grantees]).filter((role) => role !== 'PUBLIC'),
    extensions: extensionsIn(definitions),
    schemas: matches(definitions, /^CREATE SCHEMA (.+);$/gm),
    probe,
    keyId: /^\{"key_id":"([^"]+)"/.exec(probe?.value ?? '')?.[1],
  }
}

const identifier = '(?:"(?:[^"]|"")+"|[^\\s."]+)'
/** What a policy asks goes on for lines, and may hold anything; what it is called, too. */
const policyRoles = new RegExp(
  `^CREATE POLICY ${identifier} ON ${identifier}\\.${identifier} (?:AS RESTRICTIVE )?(?:FOR \\w+ )?TO (.+?)(?: USING \\(| WITH CHECK \\(|;$)`,
  'gm',
)

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, names = '']) => names.split(', ').map(unquoted))
}

function unquoted(name: string): string {
  return /^".*"$/.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name
}

function unique(names: string[]): string[] {
  return [...new Set(names)].sort()
}

function extensionsIn(definitions: string): Dump['extensions'] {
  const pattern = /^CREATE EXTENSION IF NOT EXISTS (\S+) WITH SCHEMA (\S+);$/gm
  return [...definitions.matchAll(pattern)].map(([, name = '', schema = '']) => ({
    name: unquoted(name),
    schema: unquoted(schema),
  }))
}

/** The line between COPY and its end; nothing in the stored form has to be escaped there. */
function probeIn(rows: string): Dump['probe'] {
  const [, id = '', value = ''] = /^([0-9a-f-]{36})\t(\{.*\})$/m.exec(rows) ?? []
  return id === '' ? undefined : { id, value }
}
