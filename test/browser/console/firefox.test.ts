/** The five main tasks of an operator, in Firefox. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { until } from '../../support/processes/until.ts'
import { build } from '../../support/server.ts'
import { newAddress, password } from '../../support/users.ts'
import { makeAdmin, makeUser } from './console-site.ts'
import { firefoxPath, openFirefox } from './firefox.ts'

const skip = firefoxPath === undefined && 'no Firefox is installed (FIREFOX_PATH)'

suite('console in Firefox', { skip }, () => {
  const ending = endingOfSuite()
  let opened: ReturnType<typeof open> | undefined
  const site = () => {
    opened ??= open()
    return opened
  }

  /** A console in which an owner has signed in at the sign-in pages. */
  async function open() {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = { AUTH_CONSOLE_ENABLED: 'true', AUTH_API_EXTERNAL_URL: url }
    const built = await build(ending, { env })
    await built.app.listen({ host: '127.0.0.1', port })
    const firefox = await openFirefox(ending)
    const owner = await makeAdmin(built, 'owner')
    await firefox.page.goto(`${url}/console/users`)
    await firefox.press('Sign in', 'link')
    await firefox.fill('Email address', owner.email)
    await firefox.fill('Password', password)
    await firefox.press('Sign in')
    await firefox.find('Users', 'heading')
    const read = (user: User) => adminCall(built.app, 'GET', `/admin/users/${user.id}`)

    /** A new user, whose page is open. */
    async function openUser(): Promise<User> {
      const user = await makeUser(built)
      await firefox.page.goto(`${url}/console/users/${user.id}`)
      await firefox.find(user.email, 'heading')
      return user
    }
    async function chooseAction(name: string): Promise<void> {
      await firefox.pressText('Actions ▾')
      await firefox.press(name)
    }
    return { ...built, firefox, url, read, openUser, chooseAction }
  }

  test('signs an owner in on the sign-in pages and returns to the requested page', async () => {
    const { firefox, url } = await site()
    await firefox.page.goto(`${url}/console/users?state=banned`)
    await firefox.find('Users', 'heading')
    assert.equal(firefox.page.url(), `${url}/console/users?state=banned`)
  })

  test('finds a user while their address is typed', async () => {
    const { app, firefox, url } = await site()
    const user = await makeUser({ app }, { email: newAddress('wanted') })
    await firefox.page.goto(`${url}/console/users`)
    await firefox.fill('Search users', 'wanted')
    await firefox.press(user.email, 'link')
    await firefox.find(user.email, 'heading')
  })

  test('bans a user and undoes the ban', async () => {
    const { chooseAction, firefox, openUser, read } = await site()
    const user = await openUser()
    await chooseAction('Ban')
    await firefox.press('Ban user')
    await until(async () => (await read(user)).banned_until !== undefined)
    await firefox.press('Undo')
    await until(async () => (await read(user)).banned_until === undefined)
  })

  test('sends a user a link', async () => {
    const { firefox, mail, openUser } = await site()
    const { email } = await openUser()
    await firefox.press('Send link')
    await firefox.press(`Send to ${email}`)
    assert.match(linkIn(await nextEmail({ mail }, email)), /type=/)
  })

  test('deletes a user once the address is typed', async () => {
    const { app, chooseAction, firefox, openUser } = await site()
    const { id, email } = await openUser()
    await chooseAction('Delete')
    await firefox.fill(`Type “${email}” to confirm`, email)
    await firefox.press('Delete user')
    await firefox.find('Users', 'heading')
    assert.equal((await asAdmin(app, 'GET', `/admin/users/${id}`)).statusCode, 404)
  })
})
