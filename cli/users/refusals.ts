/** The report of rows that were not taken: one JSON object a line, with the line in the file and the reason. */
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'

export interface Refusal {
  line: number
  reason: string
}

export interface Report {
  path: string
  add(refusals: Refusal[]): Promise<void>
}

/** There is none until a row is refused; when an import goes on, it is without what will be found again. */
export async function openReport(path: string, lastSettledLine: number): Promise<Report> {
  const kept = lastSettledLine === 0 ? [] : await readReport(path, lastSettledLine)
  await (kept.length > 0 ? writeFile(path, toLines(kept)) : rm(path, { force: true }))
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
