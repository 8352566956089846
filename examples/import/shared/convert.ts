/** The command of a converter: users to standard output, what is left out to standard error. */
import { parseArgs } from 'node:util'

import { Fields, UnreadableRecord } from './fields.ts'
import type { Providers } from './identities.ts'
import { isObject } from './json.ts'
import { readRecords } from './records.ts'

interface Arguments {
  positionals: string[]
  /** The known ones, and those of `--provider NAME=OURS`. */
  providers: Providers
}

interface Converter {
  /** The name of the list in an export that is one object. */
  list: string
  /** Undefined for a record that is no user. Throws UnreadableRecord. */
  convert(record: Fields): object | undefined
}

/** Throws an Error with the usage. */
export function readArguments(usage: string, known: Record<string, string>): Arguments {
  const options = { provider: { type: 'string', multiple: true } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const providers = new Map(Object.entries(known))
  for (const pair of values.provider ?? []) {
    const [theirs, ours] = pair.split('=')
    if (!theirs || !ours) throw new Error(`--provider ${pair} is not of the form NAME=OURS.`)
    providers.set(theirs, ours)
  }
  if (positionals.length === 0) throw new Error(`Usage: ${usage}`)
  return { positionals, providers }
}

/** Writes the users, and reports what is left out. */
export function convertFiles(files: string[], { list, convert }: Converter): Promise<void> {
  return visitRecords(files, list, 'converted', async (record) => {
    const user = convert(record)
    if (user) await write(`${JSON.stringify(user)}\n`)
    return user !== undefined
  })
}

/**
 * Visits each record for itself: one that cannot be read is reported, and costs no other. `visit` returns whether it used
 * the record. Throws an Error for a file without any.
 */
export async function visitRecords(
  files: string[],
  list: string,
  verb: string,
  visit: (record: Fields) => boolean | Promise<boolean>,
): Promise<void> {
  for (const file of files) {
    const leftOut = new Map<string, number>()
    const unread: string[] = []
    let [records, used] = [0, 0]
    for await (const { number, value } of readRecords(file, list)) {
      records += 1
      const names = new Set<string>()
      try {
        const record = open(value, names)
        if (await visit(record)) {
          used += 1
          record.end()
        }
      } catch (error) {
        if (!(error instanceof UnreadableRecord)) throw error
        unread.push(`record ${number} is not readable: ${error.message}`)
      }
      for (const name of names) leftOut.set(name, (leftOut.get(name) ?? 0) + 1)
    }
    if (records === 0) throw new Error(`${file} has no user: export the users as JSON.`)
    const counted = [...leftOut].map(([name, count]) => `${name} (${count})`)
    console.error(`${file}: ${used} of ${records} ${verb}`)
    if (counted.length > 0) console.error(`left out: ${counted.join(', ')}`)
    for (const line of unread) console.error(line)
  }
}

function open(value: unknown, leftOut: Set<string>): Fields {
  if (!isObject(value)) throw new UnreadableRecord('it is not a JSON object')
  return new Fields(value, leftOut)
}

/** Waits while the reader is slower. */
async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return
  await new Promise((resolve) => process.stdout.once('drain', resolve))
}
