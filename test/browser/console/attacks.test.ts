/** What users, providers and OAuth clients write is shown as text; no site can frame the console. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { suite, test } from 'node:test'

import type { Page } from 'playwright-core'

import { asAdmin } from '../../support/admin.ts'
import { serve } from '../../support/processes/listening.ts'
import { signedIn } from '../../support/users.ts'
import { executablePath } from '../chromium.ts'
import { settled } from '../page-checks.ts'
import { makeUser, open, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

const attack = '"><img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>'
const link = 'javascript:globalThis.attacked=1'

suite('console under attack', { skip }, () => {
  test('shows name, metadata, device and addresses of a user as text', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const user = await makeUser(site, {
      user_metadata: { full_name: attack, avatar_url: link, [attack]: attack },
      app_metadata: { providers: [attack] },
    })
    await signedIn(app, user.email, { 'user-agent': attack })
    await open(page, 'Users')
    await page.getByRole('cell', { name: attack }).first().waitFor()
    await page.getByRole('link', { name: user.email }).click()
    for (const tab of ['Security', 'Sessions', 'Email', 'Metadata', 'Activity', 'Details']) {
      await page.getByRole('navigation', { name: 'User' }).getByRole('link', { name: tab }).click()
      await page.locator('[aria-current=page]', { hasText: tab }).waitFor()
      await settled(page)
      assert.deepEqual(await findInjected(page), [], tab)
    }
    await open(page, 'Audit log')
    await settled(page)
    assert.deepEqual(await findInjected(page), [])
  })

  test('shows the data of a provider identity as text', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const user = await makeUser(site)
    await app.db
      .insertInto('identities')
      .values({
        provider_id: attack,
        provider: attack,
        user_id: user.id,
        identity_data: JSON.stringify({ email: attack, sub: attack }),
      })
      .execute()
    await open(page, 'Users')
    await page.getByRole('link', { name: user.email }).click()
    await page.getByRole('cell', { name: attack }).first().waitFor()
    assert.deepEqual(await findInjected(page), [])
  })

  test('shows the metadata of an OAuth client as text', async (t) => {
    const { app, page } = await openSignedIn(t)
    const made = await asAdmin(app, 'POST', '/admin/oauth/clients', {
      client_name: attack,
      redirect_uris: ['https://app.example.com/callback'],
      contacts: [attack],
    })
    assert.equal(made.statusCode, 201, made.body)
    await open(page, 'OAuth clients')
    await page.getByRole('link', { name: attack }).click()
    await page.getByRole('heading', { level: 1, name: attack }).waitFor()
    assert.deepEqual(await findInjected(page), [])
  })

  test('shows values of providers and webhooks as text', async (t) => {
    const { app, page } = await openSignedIn(t)
    await asAdmin(app, 'POST', '/admin/webhooks', {
      url: 'https://hooks.example.com',
      description: attack,
    })
    await open(page, 'Webhooks')
    await page.getByRole('link', { name: attack }).click()
    await page.getByRole('heading', { level: 1, name: attack }).waitFor()
    assert.deepEqual(await findInjected(page), [])
  })

  test('sends no request for an id that names another endpoint', async (t) => {
    const { page } = await openSignedIn(t)
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    for (const id of ['..%2Fadmins', '..%2F..%2Fuser', 'x%2F..%2F..%2Fadmins']) {
      for (const kind of ['users', 'organizations', 'webhooks']) {
        const path = `/console/${kind}/${id}`
        // A reload would lose the key.
        await page.evaluate(
          `history.pushState(null, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`,
        )
        await settled(page)
        await page.getByText('Not found').first().waitFor()
      }
    }
    assert.deepEqual(
      requested.filter((path) => /^\/(admin\/admins|user)$/.test(path)),
      [],
    )
  })

  test('cannot be framed by another site', async (t) => {
    const { page, url } = await openSignedIn(t)
    const html = `<!doctype html><iframe src="${url}/console"></iframe>`
    const port = await serve(
      t,
      createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(html)
      }),
    )
    await page.goto(`http://localhost:${port}`)
    const frame = page.frames().find((each) => each !== page.mainFrame())
    await page.waitForLoadState('networkidle')
    assert.doesNotMatch(frame?.url() ?? '', /console$/)
  })

  test('gives no token to a script of another site', async (t) => {
    const site = await openSignedIn(t)
    const { page, url } = site
    const port = await serve(
      t,
      createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>')
      }),
    )
    await page.goto(`http://localhost:${port}`)
    const outcome = await page.evaluate(
      `fetch('${url}/console/session', { method: 'POST', credentials: 'include', headers: { 'x-form-token': 'x' } })
        .then((response) => response.ok, () => false)`,
    )
    assert.equal(outcome, false)
  })
})

/** Scripts that ran, elements that an attack made, and links that run scripts. */
async function findInjected(page: Page): Promise<unknown> {
  return page.evaluate(`[
    ...(globalThis.attacked ? ['a script ran'] : []),
    ...[...document.querySelectorAll('body img, body script, a[href^="javascript:"]')].map((element) => element.outerHTML),
  ]`)
}
