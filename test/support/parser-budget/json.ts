/** JSON bodies of unauthenticated clients and of admins, and user files of admins. */
import type { App } from '../server.ts'
import { adminToken } from '../users.ts'
import { fill, type Load, largeBytes, smallBytes } from './load.ts'

/** A value of about this size. */
const values: Record<string, (bytes: number) => string> = {
  'short members': (bytes) => `{${fill(bytes, (at) => `"${at.toString(36)}":1,`)}"z":1}`,
  'members in upper case': (bytes) => `{${fill(bytes, (at) => `"A${at.toString(36)}":"",`)}"Z":1}`,
  'empty objects': (bytes) => `[${fill(bytes, '{},')}1]`,
  'empty texts': (bytes) => `[${fill(bytes, '"",')}1]`,
  numbers: (bytes) => `[${fill(bytes, '1,')}1]`,
  'long numbers': (bytes) => `[${fill(bytes, '1e-300,')}${fill(300, '9')}]`,
  escapes: (bytes) => `"${fill(bytes, '\\u00e9')}"`,
  'unpaired surrogates': (bytes) => `"${fill(bytes, 'x')}\\ud800"`,
  levels: (bytes) => `${fill(bytes / 2, '[')}${fill(bytes / 2, ']')}`,
  'branches of as many levels as are allowed': (bytes) =>
    `[${fill(bytes, `${'['.repeat(90)}${']'.repeat(90)},`)}1]`,
  'as many values as are allowed': (bytes) =>
    `[${fill(Math.min(bytes, 900_000), (at) => (at < 19_000 ? `"${'x'.repeat(bytes / 20_000 - 2)}",` : ' '))}1]`,
  'one long text': (bytes) => `"${fill(bytes, 'é')}"`,
}

/** User files: a header and rows. */
const files: Record<string, (bytes: number) => string> = {
  'short rows': (bytes) => `email\n${fill(bytes, (at) => `${at}@b.example\n`)}`,
  'rejected rows': (bytes) => `email\n${fill(bytes, 'x\n')}`,
  'one row': (bytes) => `email,user_metadata\na@b.example,"{""a"":""${fill(bytes, 'x')}""}"\n`,
  quotes: (bytes) => `email\n"${fill(bytes, '""')}"\n`,
  'a quote that does not end': (bytes) => `email\n"${fill(bytes, 'x')}`,
  columns: (bytes) =>
    `${fill(bytes / 2, (at) => `c${at},`)}email\n${fill(bytes / 2, ',')}a@b.example\n`,
  'rows with too many fields': (bytes) => `email\n${fill(bytes, 'a,')}`,
  'empty lines': (bytes) => `email\n${fill(bytes, '\n')}`,
  'metadata in each row': (bytes) =>
    `email,user_metadata\n${fill(bytes, (at) => `${at}@c.example,"{""a"":[[],[],[]]}"\n`)}`,
}

export function jsonLoads(app: App): Load[] {
  const headers = { 'content-type': 'application/json' }
  const post = (url: string, payload: string, more = {}) =>
    app.inject({ method: 'POST', url, headers: { ...headers, ...more }, payload })
  return [smallBytes, largeBytes].flatMap((bytes) =>
    Object.entries(values).flatMap(([title, make]) => {
      const value = make(bytes - 1_000)
      const body = `{"email":"x","password":"y","data":${value}}`
      const asBody = (run: () => Promise<unknown>, parser: string) => ({
        parser,
        title,
        bytes,
        run,
      })
      return [
        asBody(() => post('/signup', body), 'JSON body'),
        asBody(() => post('/signup', value), 'JSON body'),
        asBody(async () => {
          const authorization = `Bearer ${await adminToken(app)}`
          const user = `{"email":"a@b.example","user_metadata":${value}}`
          await post('/admin/users', user, { authorization })
        }, 'JSON body of an admin'),
      ]
    }),
  )
}

export function importLoads(app: App): Load[] {
  return [smallBytes, largeBytes].flatMap((bytes) =>
    Object.entries(files).map(([title, make]) => {
      const payload = make(bytes - 100)
      const run = async () => {
        const authorization = `Bearer ${await adminToken(app)}`
        const headers = { authorization, 'content-type': 'text/csv' }
        await app.inject({
          method: 'POST',
          url: '/admin/users/import?dry_run=true',
          headers,
          payload,
        })
      }
      return { parser: 'CSV import', title, bytes, run }
    }),
  )
}
