/** Packages that many people type from memory. A name that nearly equals one of these is suspect. */
export type Ecosystem = "npm" | "PyPI";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const POPULAR: Readonly<Record<Ecosystem, ReadonlySet<string>>> = {
  npm: words(`
    react react-dom react-native react-router react-router-dom react-redux react-query react-hook-form react-scripts react-icons preact
    vue vuex vue-router nuxt next svelte angular solid-js lit express koa koa-router fastify hapi hono nest nestjs socket.io socket.io-client ws
    lodash lodash.merge lodash.debounce underscore ramda immer rxjs async bluebird q co moment dayjs date-fns luxon axios request node-fetch
    cross-fetch got superagent undici ky isomorphic-fetch form-data chalk colors kleur picocolors ansi-styles ansi-regex strip-ansi
    supports-color color color-convert color-name commander yargs yargs-parser minimist meow inquirer prompts ora cli-progress debug winston
    pino bunyan morgan log4js dotenv cross-env cross-spawn execa shelljs rimraf mkdirp fs-extra glob globby fast-glob chokidar micromatch
    minimatch picomatch path-to-regexp semver uuid nanoid shortid classnames clsx prop-types styled-components tailwindcss postcss
    autoprefixer sass node-sass less webpack webpack-cli webpack-dev-server rollup vite esbuild parcel turbo tsup swc babel-core babel-loader
    babel-eslint eslint eslint-config-airbnb eslint-plugin-react eslint-plugin-import eslint-scope eslint-config-prettier prettier stylelint
    typescript ts-node tsx tslib ts-jest jest mocha chai sinon jasmine karma cypress playwright puppeteer vitest ava tape nyc c8 supertest
    nock jsdom cheerio body-parser cookie-parser cors helmet compression multer passport passport-local jsonwebtoken bcrypt bcryptjs
    crypto-js argon2 validator joi yup zod ajv mongoose mongodb mysql mysql2 pg pg-promise sqlite3 better-sqlite3 redis ioredis sequelize
    typeorm prisma knex kysely drizzle-orm graphql apollo-server apollo-client firebase firebase-admin aws-sdk stripe twilio nodemailer
    sharp jimp canvas three d3 chart.js echarts leaflet jquery bootstrap font-awesome electron electron-builder ethers web3 bitcoinjs-lib
    solc truffle hardhat ganache openai langchain tiktoken event-stream events eventemitter3 readable-stream through2 concat-stream
    safe-buffer buffer inherits once wrappy ms qs query-string url-parse iconv-lite mime mime-types send serve serve-static http-proxy
    http-proxy-middleware http-server nodemon pm2 concurrently husky lint-staged npm-run-all npm yarn pnpm lerna nx rc ini toml js-yaml yaml
    xml2js fast-xml-parser csv-parse papaparse marked markdown-it highlight.js prismjs handlebars mustache ejs pug nunjucks i18next
    web-vitals regenerator-runtime core-js es6-promise whatwg-fetch object-assign extend deepmerge fast-deep-equal deep-equal
    is-promise is-odd left-pad ua-parser-js coa node-ipc faker loadyaml jsdoc typedoc nan node-gyp node-gyp-build bindings discord.js
    tar archiver adm-zip jszip unzipper qrcode pdfkit pdf-lib pdfjs-dist xlsx exceljs bull bullmq agenda cron node-cron node-schedule
    amqplib kafkajs mqtt ssh2 telegraf slack eslint-utils acorn esprima estraverse escodegen terser uglify-js source-map postcss-loader
    css-loader style-loader file-loader html-webpack-plugin mini-css-extract-plugin copy-webpack-plugin mobx redux redux-thunk redux-saga
    zustand recoil jotai formik antd storybook husky npm-check-updates serverless pino-pretty cross-zip type-fest p-limit p-map escape-html
  `),
  PyPI: words(`
    requests urllib3 httpx aiohttp numpy pandas scipy matplotlib seaborn scikit-learn sklearn tensorflow keras torch torchvision pytorch-lightning
    transformers tokenizers datasets huggingface-hub openai anthropic langchain llama-index tiktoken sentencepiece flask django fastapi
    starlette uvicorn gunicorn tornado bottle pyramid celery redis pymongo sqlalchemy alembic psycopg2 psycopg2-binary mysqlclient pymysql
    mysql-connector-python pydantic attrs dataclasses marshmallow click typer rich colorama tqdm loguru termcolor python-dateutil pytz
    tzdata pendulum arrow six setuptools wheel pip virtualenv pipenv poetry tox nox pytest pytest-cov pytest-asyncio coverage mock hypothesis
    black flake8 pylint isort mypy ruff bandit pre-commit autopep8 yapf jinja2 markupsafe werkzeug itsdangerous beautifulsoup4 bs4 lxml
    html5lib scrapy selenium playwright pillow opencv-python opencv-python-headless imageio scikit-image pyyaml toml tomli ujson orjson
    simplejson cryptography pycryptodome pycrypto pynacl paramiko bcrypt passlib pyjwt python-jose rsa certifi idna chardet
    charset-normalizer boto3 botocore s3transfer awscli google-cloud-storage google-api-python-client google-auth azure-storage-blob
    azure-identity kubernetes docker ansible fabric invoke python-dotenv jsonschema protobuf grpcio pyzmq kafka-python pika websocket-client
    websockets aiofiles asyncio trio anyio gevent eventlet greenlet psutil pywin32 pexpect ptyprocess jupyter notebook jupyterlab ipython
    ipykernel nbconvert plotly dash bokeh altair streamlit gradio networkx sympy statsmodels xgboost lightgbm catboost nltk spacy gensim
    textblob discord.py discord python-telegram-bot tweepy praw slack-sdk stripe twilio sendgrid web3 eth-account ccxt yfinance openpyxl
    xlrd xlsxwriter python-docx pypdf2 pypdf reportlab pyinstaller cython numba dask pyspark pyarrow polars ray joblib cloudpickle
    cffi pycparser typing-extensions importlib-metadata zipp packaging pyparsing more-itertools decorator wrapt cachetools filelock
    platformdirs distlib regex ftfy faker factory-boy responses freezegun tenacity retrying backoff schedule apscheduler watchdog pyserial
    pyautogui pynput keyboard pygame kivy pyqt5 pyside6 tkinter wxpython sphinx mkdocs docutils babel markdown mistune pygments feedparser
    httplib2 oauthlib requests-oauthlib social-auth-core python-multipart email-validator phonenumbers pycountry geopy shapely geopandas
    rasterio folium fiona mcp fastmcp uv build twine hatchling flit wandb mlflow optuna accelerate diffusers bitsandbytes peft
    sentence-transformers faiss-cpu chromadb pinecone-client elasticsearch opensearch-py neo4j cassandra-driver influxdb-client prometheus-client
  `),
};

/** Names of malware: published to be mistaken for others, or taken over. */
export const KNOWN_BAD: Readonly<Record<Ecosystem, ReadonlySet<string>>> = {
  npm: words(`
    crossenv cross-env.js d3.js fabric-js ffmepg gruntcli http-proxy.js jquery.js mariadb-node mongose mssql.js mssql-node mysqljs nodecaffe
    nodefabric node-fabric nodeffmpeg nodemailer-js nodemailer.js nodemssql node-opencv node-opensl node-openssl noderequest nodesass
    nodesqlite node-sqlite node-tkinter opencv.js openssl.js proxy.js shadowsock smb sqliter sqlite.js sqlserver tkinter babelcli
    flatmap-stream getcookies eslint-scope-util electorn loadyml discordi.js discord.app rpc-websocket twilio-npm web3-essential
    bb-builder lodashs loadsh lodahs expresss axois axioss momnet reqeust chalkk postmark-mcp`),
  PyPI: words(`
    python3-dateutil jeilyfish colourama python-sqlite pythonkafka diango djago djanga dajngo urlib3 urllib requestss request reqeusts
    requsts beautfulsoup beutifulsoup4 python-openssl crypt acqusition apidev-coop bzip setup-tools telnet urlib ctx phpass noblesse
    pytagora colorslib httpslib libhttps pillows tensorfow tensorflow-gpus numpyy pandsa matplotlb pyyalm mysql-connector-python3
    cryptograpyh pycrpto discord-py-self2`),
};
