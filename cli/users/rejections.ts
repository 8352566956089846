/** The report of rejected rows: one JSON object per line, with line number and reason. */
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'

import type { ImportRejection } from '../../modules/user-import/index.ts'

export interface Report {
  path: string
  add(rejections: ImportRejection[]): Promise<void>
}

/** Created with the first rejected row. When an import resumes, entries after the last stored row are removed. */
export async function openReport(path: string, lastSettledLine: number): Promise<Report> {
  const kept = lastSettledLine === 0 ? [] : await readReport(path, lastSettledLine)
  await (kept.length > 0 ? writeFile(path, toLines(kept)) : rm(path, { force: true }))
  return {
    path,
    add: (rejections) =>
      rejections.length > 0 ? appendFile(path, toLines(rejections)) : Promise.resolve(),
  }
}

/** An interruption may have left an incomplete last line. */
async function readReport(path: string, lastSettledLine: number): Promise<ImportRejection[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): ImportRejection => JSON.parse(line))
    .filter(({ line }) => line <= lastSettledLine)
}

const toLines = (rejections: ImportRejection[]) =>
  rejections.map((rejection) => `${JSON.stringify(rejection)}\n`).join('')
