/** Licences of the packages in the lock file: which are permitted, and their texts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Lock } from './lock-file.ts'

/** Permissive licences, which require at most a notice. */
const permitted = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'Python-2.0',
  'PSF-2.0',
  'Zlib',
])

/** Packages for development only, which no release contains. */
const permittedInDevelopment = new Set(['MPL-2.0'])

/** One sentence for each package with another licence, or none. */
export function licenceProblems({ packages }: Lock): string[] {
  return Object.entries(packages).flatMap(([folder, { license = '', dev = false }]) => {
    if (folder === '') return []
    const isPermitted = splitChoices(license).some(
      (one) => permitted.has(one) || (dev && permittedInDevelopment.has(one)),
    )
    return isPermitted
      ? []
      : [
          `${folder} has the licence "${license}", which scripts/release/licences.ts does not permit.`,
        ]
  })
}

/** `(MIT OR EUPL-1.1+)`: one of them is enough. */
function splitChoices(expression: string): string[] {
  return expression.replaceAll(/[()]/g, '').split(' OR ')
}

/** The notice of every package below a node_modules folder that the lock file names. */
export function licenceTexts({ packages }: Lock, root: string): string {
  const sections = Object.entries(packages)
    .filter(([folder]) => folder !== '' && existsSync(join(root, folder)))
    .map(([folder, { version = '', license = '' }]) => {
      const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
      const text = textIn(join(root, folder)) ?? 'The package has no file with its licence.'
      return `${name} ${version} (${license})\n\n${text.trim()}\n`
    })
  return [...new Set(sections)].join(`\n${'-'.repeat(72)}\n\n`)
}

function textIn(folder: string): string | undefined {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && /^(licen[cs]e|copying|notice)/i.test(entry.name),
  )
  const names = files.map(({ name }) => name).toSorted()
  const texts = names.map((name) => readFileSync(join(folder, name), 'utf8'))
  return texts.length > 0 ? texts.join('\n') : undefined
}
