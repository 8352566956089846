import { readFileSync } from 'node:fs'

/** The build version (semantic versioning), from package.json. */
export const version = readVersion()

function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('./package.json', import.meta.url), 'utf8'),
  )
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest)) return '0.0.0'
  return String(manifest.version)
}
