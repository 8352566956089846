/** The files of a framework guide, bundled with stubs in place of the framework. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'

import { build } from 'esbuild'

const root = join(import.meta.dirname, '../../..')
const stubs = join(import.meta.dirname, 'stubs')

/** The code blocks of a page that begin below the path of their file. */
export function readGuideFiles(page: string): Record<string, string> {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const blocks = text.matchAll(/^`([^`\n]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)
  return Object.fromEntries([...blocks].map(([, path = '', code = '']) => [path, code]))
}

/**
 * Writes the files of the page below node_modules, where their packages are found, and imports `entry`, a module that
 * exports what the test needs of them. `alias` names a stub for each module of the framework.
 */
export async function importGuide<Exports>(
  t: TestContext,
  page: string,
  { entry, alias }: { entry: string; alias: Record<string, string> },
): Promise<Exports> {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, code] of Object.entries({ ...readGuideFiles(page), 'entry.ts': entry })) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
  }
  const outfile = join(folder, 'bundle.mjs')
  await build({
    entryPoints: [join(folder, 'entry.ts')],
    outfile,
    bundle: true,
    logLevel: 'silent',
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    absWorkingDir: folder,
    // Only the SDK is the real package.
    external: ['@supabase/*', 'node:*'],
    alias: Object.fromEntries(
      Object.entries(alias).map(([module, file]) => [module, join(stubs, file)]),
    ),
  })
  return import(pathToFileURL(outfile).href)
}
