/**
 * The minimal server for comparison: node:http and pg, and one prepared statement that reads a user’s row. No routes,
 * tokens, schemas or log. Costs are reported as multiples of this baseline.
 */
import { createServer, type ServerResponse } from 'node:http'

import pg from 'pg'

const { DATABASE_URL: connectionString, PORT } = process.env
const pool = new pg.Pool({ connectionString, max: 20 })

const user = { name: 'user', text: 'select * from auth.users where id = $1' }
const users = { name: 'users', text: 'select id from auth.users limit 64' }

createServer((request, response) => {
  const id = request.url?.slice('/users/'.length)
  const query = id ? { ...user, values: [id] } : users
  pool.query(query).then(
    ({ rows }) => respond(response, 200, id ? rows[0] : rows),
    ({ message }) => respond(response, 500, { message }),
  )
}).listen(Number(PORT), '127.0.0.1')

function respond(response: ServerResponse, status: number, body: unknown) {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}
