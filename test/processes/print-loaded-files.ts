/** Prints the files of the repository that a server loads, as JSON. Arguments: values of variables as NAME=VALUE. */
import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(import.meta.dirname, '../..')
const loaded = new Set<string>()
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.add(relative(root, fileURLToPath(url)))
    return next(url, context)
  },
})

const { build } = await import('../support/server.ts')
const endings: (() => Promise<unknown>)[] = []
const env = Object.fromEntries(process.argv.slice(2).map((pair) => pair.split('=')))
await build({ after: (end) => void endings.push(end) }, { env })
for (const end of endings) await end()
console.log(JSON.stringify([...loaded]))
