/** Reads the contents of a backup file. */
import { findProgram, readWithProgram } from './programs.ts'

export interface Dump {
  /** Major version of the dumped server. */
  major: number
  /** Owners of its objects. */
  owners: string[]
  /** Owners, and roles with grants. */
  roles: string[]
  extensions: { name: string; schema: string }[]
  /** Schemas that it creates. */
  schemas: string[]
  /** The stored encryption probe and its row id. */
  probe: { id: string; value: string } | undefined
  /** The id of the key that the stored data is encrypted with. */
  keyId: string | undefined
}

/** Throws an Error with one sentence for a file that is no backup of our tables. */
export async function readDump(file: string, schema: string): Promise<Dump> {
  const program = await findProgram('pg_restore', 15)
  const read = (...args: string[]) => readWithProgram(program, [...args, '--file=-', file])
  const [list, definitions, rows] = await Promise.all([
    readWithProgram(program, ['--list', file]),
    read('--schema-only'),
    read('--data-only', `--schema=${schema}`, '--table=postern_encryption_probe'),
  ])
  if (!list.includes(` TABLE DATA ${schema} users `)) {
    throw new Error(`${file} does not contain the table ${schema}.users.`)
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
/** Policy expressions and names span lines and may contain anything. */
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

/** The rows between COPY and its end; the stored form needs no unescaping. */
function probeIn(rows: string): Dump['probe'] {
  const [, id = '', value = ''] = /^([0-9a-f-]{36})\t(\{.*\})$/m.exec(rows) ?? []
  return id === '' ? undefined : { id, value }
}
