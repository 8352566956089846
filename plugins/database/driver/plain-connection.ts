/** A connection that sends each statement by itself, unnamed, for poolers that support no prepared statements. */
import type pg from 'pg'

import type { ReportUnreadable } from '../../../db/core/stored-json.ts'
import {
  type DriverConnection,
  groupLockTimeout,
  type Result,
  type Statement,
  type StatementOutcome,
} from './connection.ts'
import { jsonAsText, parseJsonFields } from './json-fields.ts'

export class PlainConnection implements DriverConnection {
  protected readonly client: pg.PoolClient
  protected readonly report: ReportUnreadable

  constructor(client: pg.PoolClient, report: ReportUnreadable) {
    this.client = client
    this.report = report
  }

  async begin(text: string): Promise<void> {
    await this.client.query(text)
  }

  async commit(): Promise<string> {
    return (await this.client.query('commit')).command
  }

  async rollback(): Promise<void> {
    await this.client.query('rollback')
  }

  run({ text, values }: Statement): Promise<Result> {
    return this.query({ text, values: [...values] })
  }

  protected async query(query: { name?: string; text: string; values: unknown[] }) {
    const result = await this.client.query({ ...query, types: jsonAsText(this.client) })
    return parseJsonFields(result, this.report)
  }

  async runPipelined(statement: Statement): Promise<void> {
    await this.run(statement)
  }

  async flush(): Promise<void> {}

  async commitAll(statements: readonly Statement[]): Promise<StatementOutcome[]> {
    try {
      await this.begin('begin')
      await this.runPipelined({ text: groupLockTimeout, values: [] })
      const results: Result[] = []
      for (const statement of statements) results.push(await this.run(statement))
      await this.commit()
      return results
    } catch (error) {
      // Fails when the connection is lost, which ends the transaction as well.
      await this.rollback().catch(() => {})
      throw error
    }
  }

  release(destroy = false): void {
    this.client.release(destroy)
  }
}
