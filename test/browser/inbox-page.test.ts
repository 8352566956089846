import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { suite, type TestContext, test } from 'node:test'

import { chromium } from 'playwright-core'

import { waitTimeoutMs } from '../support/processes/until.ts'
import { build } from '../support/server.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
const skip = executablePath === undefined ? 'there is no Chromium here' : false

const mail = {
  channel: 'email' as const,
  to: 'ada@example.com',
  subject: 'Confirm <b>your</b> address',
  text: 'The text part',
  html: '<p id="said">The HTML part <a href="http://127.0.0.1:9/verify">Confirm</a></p>',
  links: ['http://127.0.0.1:9/verify?token=abc'],
  problems: [],
  code: '123456',
}

suite('/dev/inbox in a browser', { skip }, () => {
  test('shows a new message immediately with its code, link and both parts', async (t) => {
    const { page, inbox } = await open(t)
    await page.getByText('No messages yet').waitFor()

    inbox.add(mail, new Date())

    await page.getByRole('link', { name: 'ada@example.com' }).click()
    await page.getByRole('heading', { name: 'Confirm <b>your</b> address' }).waitFor()
    assert.equal(await page.locator('output').textContent(), '123456')
    assert.equal(await page.locator('.open').last().getAttribute('href'), mail.links[0])
    const said = page.frameLocator('iframe').locator('#said')
    assert.equal(await said.textContent(), 'The HTML part Confirm')
    assert.equal(await said.locator('a').getAttribute('target'), '_blank')
    await page.getByText('Text', { exact: true }).click()
    await page.locator('pre', { hasText: 'The text part' }).waitFor()
  })

  test('keeps the open message when another arrives, and clears the inbox', async (t) => {
    const { page, inbox } = await open(t)
    inbox.add(mail, new Date())
    await page.getByRole('link', { name: 'ada@example.com' }).click()

    inbox.add({ ...mail, to: 'grace@example.com', subject: 'Another' }, new Date())

    await page.getByRole('link', { name: 'grace@example.com' }).waitFor()
    await page.getByRole('heading', { name: 'Confirm <b>your</b> address' }).waitFor()
    await page.getByRole('button', { name: 'Delete all' }).click()
    await page.getByText('No messages yet').waitFor()
    assert.deepEqual(inbox.list(), [])
  })

  test('runs no scripts of an email', async (t) => {
    const { page, inbox } = await open(t)
    const attack = "parent.document.title = 'taken'"
    const html = `<script>${attack}</script><img src="data:," onerror="${attack}"><a id="js" href="javascript:${attack}">x</a><p id="end">end</p>`
    inbox.add({ ...mail, subject: '<img src=x onerror="document.title = 1">', html }, new Date())

    await page.getByRole('link', { name: 'ada@example.com' }).click()
    const frame = page.frameLocator('iframe')
    await frame.locator('#end').waitFor()
    await frame.locator('#js').click()
    await page.waitForTimeout(200)

    assert.equal(await page.title(), 'Inbox · Postern')
  })

  test('fits the screen of a phone', async (t) => {
    const { page, inbox } = await open(t, 320)
    const to = `${'long.'.repeat(12)}address@example.com`
    const links = [`http://127.0.0.1:9/verify?token=${'a'.repeat(200)}`]
    inbox.add({ ...mail, to, links }, new Date())
    await page.getByRole('link', { name: 'long.' }).click()
    await page.frameLocator('iframe').locator('#said').waitFor()

    // A string, because this program has no DOM types.
    const wide = await page.evaluate(`
      [...document.querySelectorAll('body, main, main *')]
        .filter((element) => element.getBoundingClientRect().right > innerWidth)
        .map((element) => element.outerHTML)
    `)

    assert.deepEqual(wide, [])
    await page.getByRole('link', { name: 'All messages' }).click()
    await page.getByRole('link', { name: 'long.' }).waitFor()
  })
})

async function open(t: TestContext, width = 1000) {
  const { app } = await build(t, {
    dev: true,
    env: { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' },
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await chromium.launch({
    executablePath: executablePath ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
  t.after(() => browser.close())
  const page = await browser.newPage({ viewport: { width, height: 700 } })
  page.setDefaultTimeout(waitTimeoutMs)
  await page.goto(`${address}/dev/inbox`)
  assert.ok(app.devInbox)
  return { page, inbox: app.devInbox }
}
