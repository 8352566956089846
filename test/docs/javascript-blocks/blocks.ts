/** The JavaScript blocks of the documentation, and a way to run them as written. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const pages = ['README.md', 'docs/**/*.md', 'examples/**/*.md']

/** The server URL of the documentation. */
export const documentedUrl = 'http://127.0.0.1:8081'

export type Names = Record<string, unknown>

/** Pages that have such blocks. */
export function pagesWithBlocks(): string[] {
  const found = globSync(pages, { cwd: root, exclude: ['**/node_modules/**'] })
  return found.filter((page) => readBlocks(page).length > 0).toSorted()
}

/** In their order, without the indent of a list. */
export function readBlocks(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const fenced = text.matchAll(/^( *)```(?:js|javascript|mjs|ts|typescript)\n([\s\S]*?)^\1```$/gm)
  return [...fenced].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

const AsyncFunction: FunctionConstructor = Object.getPrototypeOf(async () => {}).constructor

/** Runs a block with these names in scope; returns what it declares. */
export async function run(block: string, names: Names): Promise<Names> {
  const imports = /^import (?:\* as (\w+)|(\{[^}]+\})) from ('[^']+')/gm
  const code = block.replaceAll(imports, 'const $1$2 = await load($3)')
  const declared = [
    ...code.matchAll(/^(?:const|let|async function|function) ([\w{}:, ]+?)(?: =|\()/gm),
  ]
    .flatMap(([, pattern = '']) => [...pattern.matchAll(/(\w+)(?!\w*:)/g)])
    .map(([, name = '']) => name)
  const load = (module: string) => import(module)
  const scope: Names = { load, ...names }
  for (const name of declared) delete scope[name]
  const body = `${code}\nreturn { ${declared.join(', ')} }`
  const outcome: unknown = await new AsyncFunction(...Object.keys(scope), body)(
    ...Object.values(scope),
  )
  assert.ok(typeof outcome === 'object' && outcome !== null)
  return { ...names, ...outcome }
}
