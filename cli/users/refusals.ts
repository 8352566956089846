/** The report of rows that were not taken: one JSON object a line, with the line in the file and the reason. */
import { appendFile, readFile, writeFile } from 'node:fs/promises'

export interface Refusal {
  line: number
  reason: string
}

export interface Report {
  path: string
  add(refusals: Refusal[]): Promise<void>
}

/** Empty at the first row; when an import goes on, without what it will find again. */
export async function openReport(path: string, lastSettledLine: number): Promise<Report> {
  const kept = lastSettledLine === 0 ? [] : await readReport(path, lastSettledLine)
  await writeFile(path, toLines(kept))
  return {
    path,
    add: (refusals) =>
      refusals.length > 0 ? appendFile(path, toLines(refusals)) : Promise.resolve(),
  }
}

/** A kill may have left half a line at the end. */
async function readReport(path: string, lastSettledLine: number): Promise<Refusal[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): Refusal => JSON.parse(line))
    .filter(({ line }) => line <= lastSettledLine)
}

const toLines = (refusals: Refusal[]) =>
  refusals.map((refusal) => `${JSON.stringify(refusal)}\n`).join('')
