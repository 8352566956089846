/** A release built once for all tests of its file. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { type Architecture, type Artifact, buildRelease } from '../../../scripts/release/build.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { createFolder } from '../programs.ts'

export const repository = join(import.meta.dirname, '../../..')
export const architecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

export interface Built {
  folder: string
  artifacts: Artifact[]
  /** The path of the artifact whose name ends like this. */
  find(ending: string): string
}

export async function build(t: Ending): Promise<Built> {
  const folder = createFolder(t)
  const artifacts = await buildRelease({
    root: repository,
    to: folder,
    architectures: [architecture],
  })
  const find = (ending: string) => {
    const found = artifacts.find(({ name }) => name.endsWith(ending))
    if (!found) throw new Error(`no artifact ends in ${ending}`)
    return join(folder, found.name)
  }
  return { folder, artifacts, find }
}

/** Unpacks an archive and returns the folder of its content. */
export function unpack(t: Ending, archive: string): string {
  const folder = createFolder(t)
  execFileSync('tar', [
    '--extract',
    '--file',
    archive,
    '--directory',
    folder,
    '--strip-components=1',
  ])
  return folder
}

/** Names of files in an archive, below its first folder. */
export function listContent(archive: string): string[] {
  const list = execFileSync('tar', ['--list', '--file', archive], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const names = list.split('\n').map((name) => name.slice(name.indexOf('/') + 1))
  return names.filter((name) => name !== '' && !name.endsWith('/'))
}
