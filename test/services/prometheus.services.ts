import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { stringify } from 'yaml'

import { freePort } from '../support/processes/free-port.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { alertNames, promtoolTests } from './alert-cases.ts'
import { createFolder, missing, startProgram } from './programs.ts'

const skip = missing('prometheus', 'promtool')
const root = join(import.meta.dirname, '../..')

/** OpenTelemetry's semantic conventions name gauges `….count`, which promtool advises against. */
const isOfConventions = (remark: string) =>
  /^(db_client_connection|process_open_file_descriptor)_count .*"_count" suffix$/.test(remark)

suite('Prometheus', { skip }, () => {
  test('each alert fires in its test case and only there', async (t) => {
    const rules = await readFile(join(root, 'docs/operations/alerts.yml'), 'utf8')
    const cases = await readFile(join(import.meta.dirname, 'alert-cases.yml'), 'utf8')
    const names = alertNames(rules, cases)
    assert.deepEqual(names.tested.sort(), names.rules.sort())
    const folder = createFolder(t)
    const file = join(folder, 'tests.yml')
    await writeFile(join(folder, 'alerts.yml'), rules)
    await writeFile(file, stringify(promtoolTests(rules, cases)))
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file])
    assert.equal(status, 0, `${stdout}${stderr}`)
  })

  test('accepts the metrics, rules and shipped configuration', async (t) => {
    const metricsPort = await freePort()
    const server = await startServerProcess(t, {
      AUTH_METRICS_ENABLED: 'true',
      AUTH_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metricsPort),
    })
    await fetch(`${server.url}/health`)
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/`)).text()
    const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text })
    const remarks = String(stderr)
      .split('\n')
      .filter((line) => line && !isOfConventions(line))
    assert.deepEqual(remarks, [])

    const folder = createFolder(t)
    await copyFile(join(root, 'docs/operations/alerts.yml'), join(folder, 'alerts.yml'))
    const shipped = await readFile(join(root, 'deploy/prometheus.yml'), 'utf8')
    const config = join(folder, 'prometheus.yml')
    await writeFile(config, shipped)
    execFileSync('promtool', ['check', 'config', config], { stdio: 'pipe' })

    const scrape = shipped
      .replace(/scrape_interval: .*/, 'scrape_interval: 1s')
      .replace(
        /dns_sd_configs:.*$/s,
        `static_configs: [{ targets: ['127.0.0.1:${metricsPort}'] }]\n`,
      )
    await writeFile(config, scrape)
    const port = await freePort()
    const address = `127.0.0.1:${port}`
    const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`]
    const quiet = [`--web.listen-address=${address}`, '--log.level=error']
    await startProgram(t, 'prometheus', [...args, ...quiet], port)
    const query = async (expression: string) => {
      const url = `http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`
      const response = await fetch(url)
      // Prometheus returns plain text while it starts.
      return response.ok ? JSON.parse(await response.text()).data.result : []
    }
    await until(async () => (await query('up{job="postern"} == 1')).length === 1)
    await until(async () => (await query('db_client_connection_count')).length === 2)
    assert.deepEqual(await query('ALERTS{alertname="PosternDown"}'), [])
  })
})
