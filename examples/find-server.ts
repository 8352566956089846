/** The development server of this folder, for the examples that also use its database. */
import { readFile } from 'node:fs/promises'

interface Server {
  url: string
  databaseUrl: string
}

/** AUTH_URL and DATABASE_URL, or what `npm run dev` wrote to .data/running.json. Ends the program without either. */
export async function findServer(): Promise<Server> {
  const running = await readFile('.data/running.json', 'utf8').then(
    (text) => JSON.parse(text).values,
    () => ({}),
  )
  const url = process.env.AUTH_URL ?? running.AUTH_API_EXTERNAL_URL ?? 'http://127.0.0.1:8081'
  const databaseUrl = process.env.DATABASE_URL ?? running.DATABASE_URL
  if (databaseUrl !== undefined) return { url, databaseUrl }
  console.error('Start npm run dev in this folder first, or set DATABASE_URL and AUTH_URL.')
  process.exit(1)
}
