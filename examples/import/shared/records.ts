/**
 * The users of an export: one JSON array, an object that holds the list, several of these one after the other, or one
 * object a line. What is not JSON costs one record.
 */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'

import { isObject, parse } from './json.ts'
import { RecordSplitter } from './splitter.ts'

/** `value` is undefined when the record is not valid JSON. */
export interface ExportedRecord {
  /** 1-based, in the order of the file. */
  number: number
  value: unknown
}

/** `list` is the name of the list in exports that are one object. */
export async function* readRecords(file: string, list: string): AsyncGenerator<ExportedRecord> {
  let number = 0
  for await (const value of readValues(file, list)) {
    number += 1
    yield { number, value }
  }
}

async function* readValues(file: string, list: string): AsyncGenerator<unknown> {
  const splitter = new RecordSplitter(list)
  const hasRecordPerLine = await beginsWithWholeValue(file)
  for await (const line of readLines(file)) {
    if (line.trim() === '') continue
    if (hasRecordPerLine) yield* readLine(line, list)
    else yield* splitter.feed(line)
  }
  yield* splitter.end()
}

/** One of the first two lines is a JSON value of its own: an incomplete first line must not cost the others. */
async function beginsWithWholeValue(file: string): Promise<boolean> {
  let count = 0
  for await (const line of readLines(file)) {
    if (line.trim() === '') continue
    if (parse(line) !== undefined) return true
    count += 1
    if (count === 2) return false
  }
  return false
}

function* readLine(line: string, list: string): Generator<unknown> {
  const value = parse(line)
  if (Array.isArray(value)) return yield* value
  if (isObject(value)) {
    const users = value[list]
    return yield* Array.isArray(users) ? users : [value]
  }
  const splitter = new RecordSplitter(list)
  const values = [...splitter.feed(line), ...splitter.end()]
  yield* values.length > 0 ? values : [value]
}

/** Exports that PowerShell redirected are UTF-16. */
async function* readLines(file: string): AsyncGenerator<string> {
  const handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
  await handle.close()
  const encoding = buffer[0] === 0xff && buffer[1] === 0xfe ? 'utf16le' : 'utf8'
  const input = createReadStream(file, { encoding })
  try {
    let isFirst = true
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      yield isFirst ? line.replace(/^\uFEFF/, '') : line
      isFirst = false
    }
  } finally {
    input.destroy()
  }
}
