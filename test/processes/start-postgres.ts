/** Run as a process: starts Postgres in the given folder and ends in the given way. */
import { startPostgres } from '../../dev/postgres/index.ts'

const [dir = '', ending = ''] = process.argv.slice(2)
const postgres = await startPostgres({ dir, log: console })
// Before the URL is printed, because its reader may send the signal immediately.
if (ending === 'ignore Ctrl-C') process.on('SIGINT', () => console.log('still here'))
console.log(postgres.url)
if (ending === 'exit') process.exit()
if (ending === 'stop') await postgres.stop()
if (ending !== 'stop') setInterval(() => {}, 1000)
