/** Software bills of materials by npm, without what changes from run to run. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
const time = /"(timestamp|created)": "[^"]*"/

/** What a server runs on, by the lock file. `date` is that of the commit. */
export function writeSbom(
  root: string,
  to: string,
  { format, date }: { format: 'cyclonedx' | 'spdx'; date: string },
): void {
  const options = ['--omit=dev', '--package-lock-only', `--sbom-format=${format}`]
  const text = execFileSync('npm', ['sbom', ...options], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const dated = text.replace(time, (_, field: string) => `"${field}": "${date}"`)
  writeFileSync(to, dated.replace(uuid, toUuid(dated.replace(uuid, ''))))
}

/** A name-based UUID, version 8 of RFC 9562. */
function toUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
