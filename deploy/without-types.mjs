/**
 * Loaded first (`node --import`): reads TypeScript files without their types, as strip-types.mjs has stored them. Node
 * would strip them with 20 MiB of WebAssembly that it keeps, and its compile cache keeps what it has read.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { strippedFile } from './strip-types.mjs'

const program = join(import.meta.dirname, 'strip-types.mjs')
let wasRun = false

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.ts') || url.includes('/node_modules/')) return nextLoad(url, context)
    const file = strippedFile(readFileSync(fileURLToPath(url), 'utf8'))
    const source = read(file) ?? (storeOnce() ? read(file) : undefined)
    // Where nothing can be stored, Node strips the types.
    if (source === undefined) return nextLoad(url, context)
    return { format: 'module', source, shortCircuit: true }
  },
})

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** In another process, whose memory is free afterwards. Returns false when that was done before. */
function storeOnce() {
  if (wasRun) return false
  wasRun = true
  const { NODE_OPTIONS, ...env } = process.env
  spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', program], { env })
  return true
}
