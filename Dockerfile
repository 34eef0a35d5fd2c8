FROM python:3.11-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/carrel && /opt/carrel/bin/pip install --no-cache-dir ".[postgres]"

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home carrel
COPY --from=build /opt/carrel /opt/carrel
ENV PATH=/opt/carrel/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CARREL_HOME=/data \
    CARREL_SERVER_HOST=0.0.0.0 \
    CARREL_AUTH_MODE=builtin
USER carrel
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('PORT', '8080') + '/health', timeout=2)"]
CMD ["carrel", "serve"]
