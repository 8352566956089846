import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { suite, type TestContext, test } from 'node:test'

import { run } from '../../cli/mail.ts'
import { startCli } from '../support/cli-process.ts'
import { callCommand } from '../support/command-call.ts'
import { build } from '../support/server.ts'

suite('mail command', () => {
  test('retry sends what was refused for certain, and leaves out what may have arrived', async (t) => {
    const { app, mail, command } = await start(t)
    const refused = await deadLetter(app, 'refused@example.com', { reason: 'answered 550' })
    const perhaps = await deadLetter(app, 'perhaps@example.com', {
      reason: 'may have been delivered: the connection was lost',
    })

    const { stdout } = await command('retry')

    assert.match(stdout, /^1 mail will be sent again\.\n/)
    assert.match(stdout, new RegExp(`${perhaps} {2}left out: .*--uncertain`))
    await mail.waitFor('refused@example.com')
    await assert.rejects(command('retry', perhaps), /may have been delivered: add --uncertain/)
    await command('retry', perhaps, '--uncertain')
    await mail.waitFor('perhaps@example.com')
    assert.equal(mail.messages.length, 2)
    await assert.rejects(command('retry', refused), /was sent|is on its way/)
  })

  test('what has expired cannot be sent again', async (t) => {
    const { app, command, mail } = await start(t)
    const id = await deadLetter(app, 'late@example.com', { expires_at: new Date(Date.now() - 1) })

    await assert.rejects(command('retry', id, '--uncertain'), /has expired/)
    assert.match((await command('retry', '--all')).stdout, /left out: it has expired/)
    assert.equal(mail.messages.length, 0)
  })

  test('list names recipient, state and reason; drop removes', async (t) => {
    const { app, command, commandProcess } = await start(t)
    const id = await deadLetter(app, 'ada@example.com', { reason: 'answered 550' })

    const stdout = await commandProcess('list')

    assert.match(
      stdout,
      new RegExp(`^${id} {2}dead .*confirmation {2}ada@example\\.com .*answered 550`),
    )
    await command('drop', id)
    assert.equal((await command('list')).stdout, 'All mail has been sent.\n')
    await assert.rejects(command('drop', id), /There is no mail/)
  })

  const mistakes: Record<string, [string[], RegExp]> = {
    'no command': [[], /Usage/],
    'an unknown command': [['resend'], /Usage/],
    'something that is no id': [['retry', '1; drop table'], /is not the id of a mail/],
    'an id nobody has': [['retry', randomUUID()], /There is no mail/],
    'an id and all': [['retry', randomUUID(), '--all'], /Usage/],
    'nothing to drop': [['drop'], /Usage/],
  }
  test('mistakes get one sentence', async (t) => {
    const { command } = await start(t)
    for (const [mistake, [args, answer]] of Object.entries(mistakes)) {
      await assert.rejects(command(...args), answer, mistake)
    }
  })
})

type App = Awaited<ReturnType<typeof build>>['app']

async function start(t: TestContext) {
  const { app, mail, config } = await build(t)
  const settings = {
    AUTH_SITE_URL: config.AUTH_SITE_URL,
    AUTH_API_EXTERNAL_URL: config.AUTH_API_EXTERNAL_URL,
    AUTH_DB_DRIVER: 'postgres',
    AUTH_JWT_SECRET: config.AUTH_JWT_SECRET,
    DATABASE_URL: config.DATABASE_URL,
    ...mail.env,
  }
  const command = async (...args: string[]) => {
    const { stdout, stderr, code } = await callCommand(run, args, settings)
    if (code !== 0) throw new Error(stderr)
    return { stdout }
  }
  const commandProcess = async (...args: string[]) => {
    const { written, ended } = startCli(t, ['mail', ...args], { cwd: tmpdir(), env: settings })
    assert.equal(await ended, 0, written.err)
    return written.out
  }
  return { app, mail, command, commandProcess }
}

interface Letter {
  reason?: string
  expires_at?: Date
}

/** A dead letter, made in one transaction with its queueing so that nobody tries to send it before. */
async function deadLetter(app: App, to: string, letter: Letter): Promise<string> {
  const variables = {
    SiteURL: 'http://app.example',
    Email: to,
    Data: {},
    ConfirmationURL: 'http://auth.example/verify?token=abc',
    Token: '123456',
    TokenHash: 'abc',
    RedirectTo: 'http://app.example',
  }
  return app.db.transaction().execute(async (trx) => {
    const id = await app.mailer.queue(
      trx,
      { kind: 'confirmation', to, userId: randomUUID(), variables },
      new Date(),
    )
    await trx
      .updateTable('postern_mail_messages')
      .set({ state: 'dead', attempts: 1, ...letter })
      .where('id', '=', id)
      .execute()
    return id
  })
}
