import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

/** Writes a .tar.gz of a folder whose bytes depend on names, contents and executable bits only. Needs GNU tar. */
export function writeArchive(folder: string, to: string, { prefix }: { prefix: string }): void {
  const options = [
    '--sort=name',
    '--format=gnu',
    '--mtime=@0',
    '--mode=u+rwX,go+rX,go-w',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--transform=flags=r;s,^\\.,${prefix},`,
  ]
  execFileSync('tar', [...options, '--create', '--file', `${to}.tar`, '--directory', folder, '.'])
  writeFileSync(to, gzipSync(readFileSync(`${to}.tar`), { level: 6 }))
  execFileSync('rm', [`${to}.tar`])
}
