/** The files of the console: prebuilt, or bundled on request. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Deps } from '../../../plugins/define-plugin.ts'
import { type Bundle, builtFolder, hasSource, readBundle, watchBundle } from './bundle.ts'

interface ConsoleFiles {
  folder: string
  /** The current file names. */
  bundle(): Promise<Bundle>
  close(): Promise<void>
}

/** Throws an Error with instructions when there is neither a build nor a bundler. */
export async function openFiles({ config }: Deps<'config'>): Promise<ConsoleFiles> {
  const built = config.dev && hasSource ? undefined : readBundle(builtFolder)
  if (built) return { folder: builtFolder, bundle: async () => built, close: async () => {} }
  return bundledFiles()
}

async function bundledFiles(): Promise<ConsoleFiles> {
  await requireBundler()
  const folder = await mkdtemp(join(tmpdir(), 'postern-console-'))
  let bundle: ReturnType<typeof watchBundle> | undefined
  return {
    folder,
    async bundle() {
      // The bundler is a separate process, started at the first request.
      bundle ??= watchBundle(folder)
      return (await bundle).build()
    },
    async close() {
      await (await bundle)?.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function requireBundler(): Promise<void> {
  try {
    await import('esbuild')
  } catch {
    throw new Error(
      'AUTH_CONSOLE_ENABLED is set, but the console is not built. Run `npm ci && npm run console:build`, or unset it.',
    )
  }
}
