import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { messageErrors, messagesSince } from '../../scripts/commit-messages.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'

const root = join(import.meta.dirname, '../..')

suite('scripts/commit-messages.ts', () => {
  const valid = [
    'sessions: reject a refresh token of a revoked session',
    'recovery codes: make the set a factor, as GoTrue 2.197 has it',
    'db/emails: process dead letters in batches',
    'docs: embed the console screenshots\n\nReaders look at them first.',
    'Merge branch main into feature',
    'Revert "sessions: rotate tokens"',
  ]
  for (const message of valid) {
    test(`accepts ${JSON.stringify(message)}`, () => {
      assert.deepEqual(messageErrors(message), [])
    })
  }

  const invalid: Record<string, RegExp> = {
    'Reject a refresh token': /scope: verb/,
    'sessions reject a token': /scope: verb/,
    'sessions: rejected a token': /"rejected" is not a verb in the imperative/,
    'sessions: rejects a token': /"rejects" is not a verb in the imperative/,
    'sessions: rejecting a token': /"rejecting" is not a verb in the imperative/,
    'sessions: Reject a token': /lower case/,
    'sessions: reject a token.': /punctuation/,
    'sessions: reject a token\nbecause of a race': /second line/,
    [`sessions: reject ${'x'.repeat(60)}`]: /77 characters/,
    '': /scope: verb/,
  }
  for (const [message, error] of Object.entries(invalid)) {
    test(`rejects ${JSON.stringify(message)}`, () => {
      assert.match(messageErrors(message).join('; '), error)
    })
  }

  test('checks only commits after the base commit', (t) => {
    const { folder, commit } = repository(t)
    commit('before the rule')
    const since = commit('The base')
    commit('mail: send a message')
    commit('mail: fix it')
    const messages = [...(messagesSince(since, folder)?.values() ?? [])]
    assert.deepEqual(
      messages.map((message) => message.trim()),
      ['mail: fix it', 'mail: send a message'],
    )
  })

  test('checks all commits of a shallow clone that ends after the base commit', (t) => {
    const { folder, commit } = repository(t)
    const since = commit('The base')
    commit('mail: send a message')
    commit('wrong')
    const clone = `${folder}-clone`
    t.after(() => rmSync(clone, { recursive: true, force: true }))
    execFileSync('git', ['clone', '--quiet', '--depth=1', `file://${folder}`, clone])
    assert.deepEqual(
      [...(messagesSince(since, clone)?.values() ?? [])].map((message) => message.trim()),
      ['wrong'],
    )
  })

  test('checks nothing in a history without the base commit', (t) => {
    const { folder, commit } = repository(t)
    commit('anything')
    assert.equal(messagesSince('0'.repeat(40), folder), undefined)
  })

  test('checks nothing in an exported tree, also inside another repository', (t) => {
    const { folder, commit } = repository(t)
    const since = commit('The base')
    const exported = join(folder, 'exported')
    mkdirSync(exported)
    assert.equal(messagesSince(since, exported), undefined)
    const alone = temporaryFolder(t, 'exported')
    assert.equal(messagesSince(since, alone), undefined)
  })

  test('the hook rejects a commit with an invalid message and accepts a valid one', (t) => {
    const { folder } = repository(t)
    for (const path of ['.githooks', 'scripts/commit-messages.ts']) {
      cpSync(join(root, path), join(folder, path), { recursive: true })
    }
    execFileSync('git', ['config', 'core.hooksPath', '.githooks'], { cwd: folder })
    const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`
    const commit = (message: string) =>
      spawnSync('git', ['commit', '--allow-empty', '--quiet', '-m', message], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, PATH },
      })
    const rejected = commit('Fixed things')
    assert.notEqual(rejected.status, 0)
    assert.match(rejected.stderr, /the subject is not "scope: verb \.\.\."/)
    assert.equal(commit('mail: send a message').status, 0)
  })
})

function repository(t: TestContext) {
  const folder = temporaryFolder(t, 'commits')
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('config', 'user.name', 'Test')
  git('config', 'user.email', 'test@example.com')
  const commit = (message: string) => {
    writeFileSync(join(folder, 'file'), message)
    git('add', '--all')
    git('commit', '--quiet', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  return { folder, commit }
}
