/**
 * The least that a server of ours could cost: node:http and pg, and one prepared statement that reads one person's row.
 * No routes, no token, no schema, no log. What the servers cost is told as a multiple of this.
 */
import { createServer, type ServerResponse } from 'node:http'

import pg from 'pg'

const { DATABASE_URL: connectionString, PORT } = process.env
const pool = new pg.Pool({ connectionString, max: 20 })

const person = { name: 'person', text: 'select * from auth.users where id = $1' }
const people = { name: 'people', text: 'select id from auth.users limit 64' }

createServer((request, response) => {
  const id = request.url?.slice('/people/'.length)
  const query = id ? { ...person, values: [id] } : people
  pool.query(query).then(
    ({ rows }) => answer(response, 200, id ? rows[0] : rows),
    ({ message }) => answer(response, 500, { message }),
  )
}).listen(Number(PORT), '127.0.0.1')

function answer(response: ServerResponse, status: number, body: unknown) {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}
