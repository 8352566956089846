/**
 * `npm run trace`: how many functions and files a warm request enters, in how many hops from file to file, and how many
 * of these return to a file that it has been in. Run as a test, because it needs a database; TRACE_TREE names another
 * checkout to trace.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import ts from 'typescript-6'

const tree = process.env.TRACE_TREE ?? join(import.meta.dirname, '..')
const product =
  /^(cli|config|db|mail|modules|plugins|providers|routes|schemas|server|sms|ui)\/.*\.ts$/

const entered = new AsyncLocalStorage<string[]>()
Object.assign(globalThis, { __entered: (file: string) => entered.getStore()?.push(file) })

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const file = url.startsWith('file:') ? relative(tree, fileURLToPath(url)) : ''
    if (!product.test(file)) return loaded
    return { ...loaded, source: instrument(String(loaded.source), file) }
  },
})

/** Each function begins with a call that records its file. */
function instrument(text: string, file: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const inserted: [at: number, code: string][] = []
  const call = `__entered(${JSON.stringify(file)})`
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && !ts.isConstructorDeclaration(node) && 'body' in node) {
      const { body } = node
      if (body && ts.isBlock(body)) inserted.push([body.getStart() + 1, `${call};`])
      else if (body) inserted.push([body.getStart(), `(${call},`], [body.getEnd(), ')'])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  // Later ones first; at the same place, the inner function’s first.
  return inserted
    .toSorted(([a], [b]) => b - a)
    .reduce((code, [at, added]) => code.slice(0, at) + added + code.slice(at), text)
}

function describe(files: readonly string[]) {
  const hops = files.filter((file, index) => index > 0 && file !== files[index - 1])
  const seen = new Set(files.slice(0, 1))
  const back = hops.filter((file) => seen.has(file) || !seen.add(file))
  return { functions: files.length, files: seen.size, hops: hops.length, back: back.length }
}

test('requests', async (t) => {
  const support = (name: string) => import(join(tree, 'test/support', name))
  const { externalServer, verifiedProfile, describe: setProfile } = await support('external.ts')
  const { confirmedUser, newAddress, password, signIn, signUp } = await support('users.ts')
  const { getUser, refresh } = await support('requests.ts')
  const { asAdmin } = await support('admin.ts')
  const server = await externalServer(t)
  const { app, fakes, startSignIn, finishSignIn } = server

  const requests: Record<string, () => Promise<() => Promise<unknown>>> = {
    'sign-up': async () => () => signUp(app, { email: newAddress() }),
    'password sign-in': async () => {
      const { email } = await confirmedUser(server)
      return () => signIn(app, { email, password })
    },
    refresh: async () => {
      const { refresh_token } = await confirmedUser(server)
      return () => refresh(app, refresh_token)
    },
    'GET /user': async () => {
      const session = await confirmedUser(server)
      return () => getUser(app, session)
    },
    'sign-up by GitHub': async () => {
      const id = String(Math.floor(Math.random() * 1e9))
      setProfile(fakes, 'github', verifiedProfile(newAddress(), id))
      const params = await startSignIn('github')
      return () => finishSignIn(params)
    },
    'GET /admin/users': async () => () => asAdmin(app, 'GET', '/admin/users'),
  }
  const rows: Record<string, ReturnType<typeof describe>> = {}
  for (const [name, prepare] of Object.entries(requests)) {
    for (let warm = 0; warm < 3; warm++) await (await prepare())()
    const send = await prepare()
    const files: string[] = []
    await entered.run(files, async () => await send())
    rows[name] = describe(files)
  }
  console.table(rows)
})
