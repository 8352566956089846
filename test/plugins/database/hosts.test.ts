/** Multiple hosts and sslmode as in libpq, against a server with TLS and a read-only server. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { databaseUrl } from '../../../config/core/parse-database-url.ts'
import { serverAccount } from '../../../dev/postgres/account.ts'
import type { RunningPostgres } from '../../../dev/postgres/index.ts'
import { createPool } from '../../../plugins/database/pool/index.ts'
import { withClient } from '../../../server/with-client.ts'
import { certificate } from '../../mail/certificate.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { startThrowawayPostgres } from '../../support/processes/throwaway-postgres.ts'

const access = [
  'hostssl postgres encrypted 127.0.0.1/32 trust',
  'hostnossl postgres encrypted 127.0.0.1/32 reject',
  'host all all 127.0.0.1/32 trust',
  'local all all trust',
]

suite('connection string', () => {
  const ending = endingOfSuite()
  let sockets: string
  let encrypting: RunningPostgres
  let readOnly: RunningPostgres

  before(async () => {
    const { key, cert } = certificate(ending)
    sockets = temporaryFolder(ending, 'sockets')
    const account = serverAccount(sockets)
    const [keyFile, certFile] = [join(sockets, 'key.pem'), join(sockets, 'cert.pem')]
    writeFileSync(keyFile, key, { mode: 0o600 })
    writeFileSync(certFile, cert)
    chmodSync(sockets, 0o755)
    if (account) {
      for (const file of [sockets, keyFile, certFile]) chownSync(file, account.uid, account.gid)
    }
    const tls = { ssl: 'on', ssl_key_file: keyFile, ssl_cert_file: certFile }
    encrypting = await startThrowawayPostgres({
      settings: { ...tls, unix_socket_directories: sockets },
      access,
    })
    ending.after(encrypting.stop)
    readOnly = await startThrowawayPostgres({ settings: { default_transaction_read_only: 'on' } })
    ending.after(readOnly.stop)
    await query(encrypting.url, 'create role encrypted login')
  })

  const getPort = ({ url }: RunningPostgres) => new URL(url).port
  const getLogin = ({ url }: RunningPostgres) => new URL(url).username
  const place = (server: RunningPostgres) => `127.0.0.1:${getPort(server)}`
  const to = (hosts: string, parameters = '') =>
    `postgres://${getLogin(encrypting)}@${hosts}/postgres?${parameters}`

  async function query(url: string, sql: string) {
    const connectionString = databaseUrl(url) ?? assert.fail(url)
    return withClient({ connectionString }, async (client) => (await client.query(sql)).rows[0])
  }
  const reached = async (url: string) => (await query(url, 'show port')).port
  const isEncrypted = async (url: string) =>
    (await query(url, 'select ssl from pg_stat_ssl where pid = pg_backend_pid()')).ssl

  test('connects to the writable one of several hosts', async () => {
    const hosts = ['127.0.0.1:1', place(readOnly), place(encrypting)].join()
    assert.equal(await reached(to(hosts)), getPort(encrypting))
    assert.equal(await reached(to(hosts, 'target_session_attrs=primary')), getPort(encrypting))
  })

  test('target_session_attrs=any connects to the first reachable host', async () => {
    const hosts = ['127.0.0.1:1', place(readOnly), place(encrypting)].join()
    assert.equal(await reached(to(hosts, 'target_session_attrs=any')), getPort(readOnly))
  })

  test('accepts a keyword/value string with several hosts', async () => {
    const [host, port] = ['127.0.0.1,127.0.0.1', `1,${getPort(encrypting)}`]
    const text = `host=${host} port=${port} user=${getLogin(encrypting)} dbname=postgres`
    assert.equal(await reached(text), getPort(encrypting))
  })

  test('reports why no host is writable', async () => {
    await assert.rejects(query(to('127.0.0.1:1,127.0.0.1:2'), 'select 1'), /ECONNREFUSED/)
    const hosts = `127.0.0.1:1,${place(readOnly)}`
    await assert.rejects(query(to(hosts), 'select 1'), /is a replica and takes no writes/)
  })

  test('connects through a socket directory', async () => {
    const url = `postgres://${getLogin(encrypting)}@/postgres?host=${sockets}&port=${getPort(encrypting)}`
    assert.equal(await reached(url), getPort(encrypting))
  })

  test('sslmode=require encrypts without verification', async () => {
    assert.equal(await isEncrypted(to(place(encrypting), 'sslmode=require')), true)
    await assert.rejects(query(to(place(readOnly), 'sslmode=require'), 'select 1'), /SSL/)
  })

  test('sslmode=verify-full and verify-ca verify the certificate', async () => {
    const mode = (name: string) => query(to(place(encrypting), `sslmode=${name}`), 'select 1')
    await assert.rejects(mode('verify-full'), /self-signed/)
    const root = join(sockets, 'cert.pem')
    for (const name of ['verify-full', 'verify-ca', 'require']) {
      assert.equal(
        await isEncrypted(to(place(encrypting), `sslmode=${name}&sslrootcert=${root}`)),
        true,
      )
    }
    await assert.rejects(mode('verify-full&sslrootcert=system'), /self-signed/)
  })

  test('sslmode=prefer encrypts when the server supports TLS', async () => {
    assert.equal(await isEncrypted(to(place(encrypting), 'sslmode=prefer')), true)
    assert.equal(await isEncrypted(to(place(readOnly), 'sslmode=prefer')), false)
  })

  test('sslmode=allow encrypts when the server requires TLS', async () => {
    assert.equal(await isEncrypted(to(place(encrypting), 'sslmode=allow')), false)
    const url = `postgres://encrypted@${place(encrypting)}/postgres?sslmode=allow`
    assert.equal(await isEncrypted(url), true)
  })

  test('moves a pool to the new primary after a failover', async (t) => {
    const connectionString = databaseUrl(to([place(encrypting), place(readOnly)].join())) ?? ''
    const pool = createPool({ connectionString, max: 1, maxIdleTime: 0, log: { warn() {} } })
    t.after(() => pool.end())
    const port = async () => {
      const client = await pool.connect()
      const { rows } = await client.query('show port')
      client.release(true)
      return rows[0].port
    }
    assert.equal(await port(), getPort(encrypting))
    const turn = async (server: RunningPostgres, value: 'on' | 'off') => {
      await query(`${server.url}?sslmode=disable`, 'select 1')
      await query(server.url, `alter system set default_transaction_read_only = ${value}`)
      await query(server.url, 'select pg_reload_conf()')
    }
    await turn(readOnly, 'off')
    await turn(encrypting, 'on')
    t.after(() => turn(encrypting, 'off'))
    const ports = [await port(), await port(), await port()]
    assert.equal(ports.at(-1), getPort(readOnly))
  })
})
