/** The files of the console: bundled by esbuild, named by content hash. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

import type { BuildOptions, OutputFile } from 'esbuild'

/** Names of the files that the page loads. */
export interface Bundle {
  script: string
  style: string
}

const source = join(import.meta.dirname, '../../../console')

/** The folder in the container image and in the npm package. */
export const builtFolder = join(source, 'dist')

/** False in the npm package, which has the built files only. */
export const hasSource = existsSync(join(source, 'main.tsx'))

const options = {
  absWorkingDir: source,
  entryPoints: ['main.tsx', 'styles/console.css'],
  entryNames: '[name]-[hash]',
  bundle: true,
  format: 'esm',
  target: ['es2023', 'chrome123', 'firefox128', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  tsconfigRaw: {},
} satisfies BuildOptions

/** The result of `npm run console:build`; undefined before its first run. */
export function readBundle(folder: string): Bundle | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const script = names.find((name) => name.endsWith('.js'))
  const style = names.find((name) => name.endsWith('.css'))
  return script && style ? { script, style } : undefined
}

/** Writes the files for production, with compressed copies. */
export async function buildBundle(folder: string): Promise<Bundle> {
  const esbuild = await import('esbuild')
  const outdir = folder
  const { outputFiles } = await esbuild.build({ ...options, outdir, minify: true, write: false })
  for (const { path, contents } of outputFiles) {
    writeFileSync(path, contents)
    writeFileSync(`${path}.br`, await promisify(brotliCompress)(contents))
    writeFileSync(`${path}.gz`, await promisify(gzip)(contents))
  }
  return toBundle(outputFiles)
}

/** Rebuilds incrementally at each call. For development. */
export async function watchBundle(folder: string) {
  const esbuild = await import('esbuild')
  const outdir = folder
  const context = await esbuild.context({ ...options, outdir, sourcemap: 'inline', write: false })
  return {
    async build(): Promise<Bundle> {
      const { outputFiles } = await context.rebuild()
      for (const { path, contents } of outputFiles) {
        if (!existsSync(path)) writeFileSync(path, contents)
      }
      return toBundle(outputFiles)
    },
    close: () => context.dispose(),
  }
}

function toBundle(files: readonly OutputFile[]): Bundle {
  const named = (end: string) => basename(files.find(({ path }) => path.endsWith(end))?.path ?? '')
  return { script: named('.js'), style: named('.css') }
}
