/**
 * node deploy/strip-types.mjs: stores the TypeScript files of this folder without their types, with unchanged lines and
 * columns. without-types.mjs reads them, so that a server process does not load the program that strips types.
 */
import { hash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** systemd names a folder that the server may write to. */
const folder = join(
  process.env.CACHE_DIRECTORY ?? join(root, 'node_modules/.cache'),
  'without-types',
)

/** Where this source is stored without its types: a file that was changed is another one. */
export function strippedFile(source) {
  return join(folder, `${hash('sha256', process.version + source)}.js`)
}

function stripAll() {
  mkdirSync(folder, { recursive: true })
  const others = new Set(readdirSync(folder).map((name) => join(folder, name)))
  const exclude = ['node_modules/**', 'test/**', 'bench/**', 'examples/**']
  for (const name of globSync('**/*.ts', { cwd: root, exclude })) {
    const source = readFileSync(join(root, name), 'utf8')
    const file = strippedFile(source)
    if (!others.delete(file)) store(file, stripTypeScriptTypes(source))
  }
  for (const file of others) rmSync(file, { force: true })
}

/** Another process never reads a part of it. */
function store(file, text) {
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, text)
  renameSync(unfinished, file)
}

if (import.meta.main) stripAll()
