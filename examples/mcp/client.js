/** Stores a note and reads all of them, with the token in TOKEN. README.md says how to run it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const url = new URL(process.env.MCP_URL ?? 'http://localhost:3002/mcp')
const authProvider = { token: async () => process.env.TOKEN }

const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(url, { authProvider }))
const { tools } = await client.listTools()
console.log('tools:', tools.map(({ name }) => name).join(', '))
const note = process.argv[2]
if (note) await call('add_note', { note })
await call('my_notes', {})
await client.close()

async function call(name, input) {
  const { content } = await client.callTool({ name, arguments: input })
  console.log(`${name}:`, content[0].text)
}
