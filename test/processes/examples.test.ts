/** The examples, run next to `npm run dev` as their README files describe. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'

import { newProject, startDev } from '../support/processes/dev-process.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { until } from '../support/processes/until.ts'

const folder = join(import.meta.dirname, '../../examples')
const password = 'correct horse battery'

suite('examples', () => {
  const ending = endingOfSuite()
  let running: ReturnType<typeof startSite> | undefined
  const started = () => {
    running ??= startSite(ending)
    return running
  }

  test('run with the Node version installed by npm ci', async () => {
    for (const readme of globSync('*/README.md', { cwd: folder })) {
      const text = await readFile(join(folder, readme), 'utf8')
      const commands = [...text.matchAll(/^.*\bnode examples\/\S+\.ts/gm)].map(([line]) => line)
      for (const command of commands) assert.match(command, /\bnpx node /, readme)
    }
  })

  for (const [name, file, output] of [
    ['rls', 'two-users.ts', /```\n(Ann sees[\s\S]*?)```/],
    ['organizations', 'tenants.ts', /```\n(Acme as Ann[\s\S]*?)```/],
  ] as const) {
    test(`${name}: prints the output of its README`, async () => {
      const { project } = await started()
      const program = join(folder, name, file)
      const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: project })
      const readme = await readFile(join(folder, name, 'README.md'), 'utf8')
      assert.equal(stdout, output.exec(readme)?.[1])
    })

    test(`${name}: says in one line that no server runs`, async (t) => {
      const options = { cwd: newProject(t) }
      const run = promisify(execFile)(process.execPath, [join(folder, name, file)], options)
      await assert.rejects(run, { code: 1, stderr: /^Start npm run dev in this folder .*\n$/ })
    })
  }

  test('ssr: sign-up by emailed link, logout, sign-in', async () => {
    const { site, linkTo } = await started()
    const browser = newBrowser(site)
    const email = `o'neil-${crypto.randomUUID()}@example.com`
    assert.match(await browser.fetchText('/'), /Sign in/)

    const response = await browser.post('/sign-up', { email, password })
    assert.match(await response.text(), /Open the link in the mail to o&#39;neil/)
    const verified = await fetch(await linkTo(email), { redirect: 'manual' })
    const redirect = verified.headers.get('location') ?? ''
    assert.ok(redirect.startsWith(`${site}/auth/callback?code=`), redirect)

    const attacker = await newBrowser(site).get(redirect)
    assert.equal(attacker.status, 400, 'the code is valid in one browser only')
    assert.equal((await browser.get(redirect)).headers.get('location'), '/')
    assert.ok(browser.set.length > 0 && browser.set.every((cookie) => /; HttpOnly/i.test(cookie)))
    const front = await browser.get('/')
    assert.equal(front.headers.get('cache-control'), 'private, no-store')
    assert.match(await front.text(), /You are o&#39;neil/)

    await browser.post('/sign-out', {})
    assert.doesNotMatch(await browser.fetchText('/'), /You are/)
    assert.equal(browser.jar.size, 0)
    const wrong = await browser.post('/sign-in', { email, password: 'another one' })
    assert.match(await wrong.text(), /Invalid login credentials/)
    assert.equal((await browser.post('/sign-in', { email, password })).status, 303)
    assert.match(await browser.fetchText('/'), /You are o&#39;neil/)
  })

  test('ssr: rejects a form of another site', async () => {
    const { site } = await started()
    const browser = newBrowser(site)
    const response = await browser.post('/sign-out', {}, 'https://evil.example')
    assert.equal(response.status, 403)
    assert.equal((await browser.get('/nowhere')).status, 404)
    const long = await browser.post('/sign-in', { email: 'a'.repeat(20_000), password })
    assert.equal(long.status, 413)
  })
})

/** `npm run dev`, and the site of examples/ssr next to it. */
async function startSite(ending: Parameters<typeof startDev>[0]) {
  const site = `http://localhost:${await freePort()}`
  const project = newProject(ending)
  const dev = await startDev(ending, project, { env: { AUTH_SITE_URL: site } })
  await dev.started
  const child = spawn(process.execPath, [join(folder, 'ssr/server.ts')], {
    env: { ...process.env, AUTH_URL: dev.url, SITE_URL: site },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  ending.after(() => end(child))
  await once(child.stdout, 'data')

  async function linkTo(email: string): Promise<string> {
    let link: string | undefined
    await until(async () => {
      const response = await fetch(`${dev.url}/dev/messages`)
      const messages: { to: string; links: string[] }[] = JSON.parse(await response.text())
      link = messages.find(({ to }) => to === email)?.links[0]
      return link !== undefined
    })
    return link ?? assert.fail()
  }
  return { project, site, linkTo }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

/** Follows no redirect and keeps cookies like a browser. */
function newBrowser(site: string) {
  const jar = new Map<string, string>()
  const set: string[] = []

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const headers = new Headers(init.headers)
    if (cookie) headers.set('cookie', cookie)
    const response = await fetch(new URL(path, site), { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      set.push(line)
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /; max-age=0/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  return {
    jar,
    /** Every Set-Cookie there was. */
    set,
    get: (path: string) => send(path),
    fetchText: async (path: string) => (await send(path)).text(),
    post: (path: string, form: Record<string, string>, origin = site) =>
      send(path, { method: 'POST', body: new URLSearchParams(form), headers: { origin } }),
  }
}
