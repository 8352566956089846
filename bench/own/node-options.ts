/** How a checkout starts Node. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { Rejected } from '../core/rejected.ts'

/** The options of `npm start` in a checkout. Throws Rejected for a folder without a package. */
export async function nodeOptions(folder: string): Promise<string[]> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const words: string[] = manifest.scripts.start.split(' ')
    // The server runs in another folder than the one its options are relative to.
    return words
      .filter((word) => word.startsWith('--'))
      .map((word) => word.replace('=./', `=${resolve(folder)}/`))
  } catch (error) {
    throw new Rejected(`${folder} is not a checkout of this repository: ${error}`)
  }
}
