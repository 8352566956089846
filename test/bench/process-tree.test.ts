import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { suite, test } from 'node:test'

import { findListener } from '../../bench/core/listener.ts'
import { readUsage, rootAmong } from '../../bench/core/process-tree.ts'
import { fakeServer } from './fake-server.ts'

suite('process tree cost', { skip: process.platform !== 'linux' }, () => {
  test('includes running and ended children', async (t) => {
    const burn = 'while (process.cpuUsage().user < 150_000);'
    const child = spawn(process.execPath, ['-e', `${burn} console.log(1); process.stdin.resume()`])
    t.after(() => child.kill())
    const before = readUsage(process.pid)
    await once(child.stdout, 'data')

    const running = readUsage(process.pid)
    const alone = readUsage(child.pid)
    const exit = once(child, 'exit')
    child.stdin.end()
    await exit
    const ended = readUsage(process.pid)

    assert.ok(before && running && alone && ended)
    assert.ok(alone.cpuMs >= 50, `${alone.cpuMs} ms`)
    assert.ok(running.cpuMs - before.cpuMs >= 50)
    assert.ok(ended.cpuMs >= running.cpuMs)
    assert.ok(running.residentMib > alone.residentMib && alone.residentMib > 10)
    assert.equal(readUsage(child.pid), undefined)
  })

  test('finds the process behind a local port', async (t) => {
    const { url } = await fakeServer(t)
    assert.equal(findListener(url), process.pid)
    assert.equal(findListener(url.replace('127.0.0.1', 'localhost')), process.pid)
    assert.equal(findListener('http://example.com:8081'), undefined)
    assert.equal(findListener('http://127.0.0.1:1'), undefined)
  })

  test('finds the root of a process and its parent', () => {
    assert.equal(rootAmong([process.ppid, process.pid]), process.ppid)
    assert.equal(rootAmong([]), undefined)
  })
})
